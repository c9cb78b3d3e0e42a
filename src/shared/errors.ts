import * as z from 'zod';

/**
 * Every code an error of Caldera can carry; a closed list, pinned by a test. Callers match on `code`, never on the message.
 * docs/errors.md says for each what causes it and what to do.
 */
export const ERROR_CODES = [
  'INVALID_ARGUMENT',
  'UNKNOWN_TOOL',
  'TOOL_INACTIVE',
  'TOOL_DENIED',
  'ABORTED',
  'CALL_TIMEOUT',
  'SESSION_CLOSED',
  'SESSION_EXISTS',
  'HOST_CLOSED',
  'HOST_BUSY',
  'EXTENSION_LOAD_FAILED',
  'ACTIVATION_TIMEOUT',
  'THREAD_EXITED',
  'THREAD_STALLED',
  'THREAD_MEMORY',
  'CRASH_LOOPING',
  'PERMISSION_DENIED',
  'CONFIG_INVALID',
  'NAME_TAKEN',
  'TOOL_QUARANTINED',
  'SERVER_STARTING',
  'SERVER_START_FAILED',
  'SERVER_EXITED',
  'STATE_LOST',
  'LINE_TOO_LONG',
  'PROTOCOL',
] as const;

/** A stable error code. */
export type ErrorCode = (typeof ERROR_CODES)[number];

const codes: ReadonlySet<unknown> = new Set(ERROR_CODES);

/** True for one of our codes. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return codes.has(value);
}

/**
 * The one error class of the host and of extensions. The message says what failed, on what, and what to do.
 * An abort has the name `AbortError`, so that callers which look at the name find it.
 */
export class ExtensionHostError extends Error {
  /** Stable; match on this. */
  readonly code: ErrorCode;
  /** Facts for programs, by code; `undefined` for most. */
  readonly data: unknown;

  constructor(code: ErrorCode, message: string, options: { readonly cause?: unknown; readonly data?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = code === 'ABORTED' ? 'AbortError' : 'ExtensionHostError';
    this.code = code;
    this.data = options.data;
  }
}

/** An error as it crosses the boundary: no stack, and a cause only when it is one of ours. */
export interface WireError {
  readonly name: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly data?: unknown;
  readonly cause?: { readonly code: ErrorCode; readonly message: string };
}

const ErrorCodeSchema = z.enum(ERROR_CODES);

export const WireErrorSchema: z.ZodType<WireError> = z.object({
  name: z.string(),
  code: ErrorCodeSchema,
  message: z.string(),
  data: z.exactOptional(z.unknown()),
  cause: z.exactOptional(z.object({ code: ErrorCodeSchema, message: z.string() })),
});

/** The text of anything that was thrown, without its stack. Never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return thrown.message || thrown.name;
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return String(thrown.message);
    return String(thrown);
  } catch {
    return 'an error that cannot be read';
  }
}

/** Prepares an error for the boundary. What is none of ours gets `fallback` as its code. */
export function toWireError(thrown: unknown, fallback: ErrorCode): WireError {
  if (!(thrown instanceof ExtensionHostError)) return { name: 'Error', code: fallback, message: messageOf(thrown) };
  const { name, code, message, data, cause } = thrown;
  return {
    name,
    code,
    message,
    ...(data === undefined ? {} : { data }),
    ...(cause instanceof ExtensionHostError ? { cause: { code: cause.code, message: cause.message } } : {}),
  };
}

/** The other half of {@link toWireError}: class, code and data are as they were thrown. */
export function fromWireError({ code, message, data, cause }: WireError): ExtensionHostError {
  return new ExtensionHostError(code, message, {
    data,
    ...(cause === undefined ? {} : { cause: new ExtensionHostError(cause.code, cause.message) }),
  });
}

/** The rejection of whatever was aborted by `signal`. */
export function abortError(what: string, signal: { readonly reason: unknown }): ExtensionHostError {
  return new ExtensionHostError('ABORTED', `${what} was aborted`, { cause: signal.reason });
}
