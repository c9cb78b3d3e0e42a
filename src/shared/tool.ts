import * as z from 'zod';
import type { ErrorCode } from './errors.ts';
import type { JsonObject, JsonValue } from './json.ts';

/** One block of a result. Image data is canonical base64 (no newlines, padded). */
export type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string };

/** Whether calls may run at once. It orders a batch (`callTools`); the lane of a stateful server is kept by its connection. */
export type ExecutionMode = 'sequential' | 'parallel';

/** Hints of a tool's author; nobody has checked them. Shape: MCP 2025-06-18, ToolAnnotations. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** Where a tool comes from. `tool` is its name at the server, when it differs from the exposed one. */
export interface ToolSource {
  readonly kind: 'built-in' | 'extension';
  readonly extension: string;
  readonly server?: string;
  readonly tool?: string;
}

/** What a model is told about a tool. Plain data. */
export interface ToolDescriptor {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of type `object`, as its author wrote it. */
  readonly parameters: JsonObject;
  readonly executionMode: ExecutionMode;
  /** JSON Schema of `structuredContent`. */
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  /** A line for the system prompt; MCP tools have none. */
  readonly promptSnippet?: string;
  readonly source: ToolSource;
}

/** `done`: it ran. `not-sent`: it did not, so it can be called again. `sent-unknown`: it may have run; it is never replayed. */
export type CallOutcome = 'done' | 'not-sent' | 'sent-unknown';

/** Facts about a call for programs. An extension may add keys of its own; all of it is held to `limits.detailsBytes`. */
export interface ToolResultDetails {
  readonly server?: string;
  /** The tool's original name. */
  readonly tool?: string;
  readonly outcome: CallOutcome;
  /** True when text was cut at a limit. */
  readonly truncated: boolean;
  /** How many images are in the result. */
  readonly images: number;
  /** Names the process behind the call; equality only. */
  readonly epoch?: string;
  readonly warnings?: readonly string[];
  readonly error?: { readonly code: ErrorCode };
  readonly [key: string]: JsonValue | undefined;
}

/** What a call comes back as. A fault behind a tool is a result too, with `isError` and `details.error.code`. */
export interface ToolResult {
  readonly content: readonly Content[];
  readonly isError: boolean;
  readonly structuredContent?: JsonValue;
  readonly details?: ToolResultDetails;
}

/** One entry of a model's batch. `arguments` defaults to `{}`. */
export interface ToolCall {
  readonly name: string;
  readonly arguments?: JsonObject;
}

/** How far a call is. `progress` grows; `total` is absent when unknown. */
export interface Progress {
  readonly progress?: number;
  readonly total?: number;
  readonly message?: string;
}

/** Something that could not be offered, and why. */
export interface Failure {
  readonly extension: string;
  readonly server?: string;
  readonly tool?: string;
  readonly code: ErrorCode;
  readonly message: string;
}

export const ContentSchema: z.ZodType<Content> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
]);

export const ProgressSchema: z.ZodType<Progress> = z.object({
  progress: z.exactOptional(z.number()),
  total: z.exactOptional(z.number()),
  message: z.exactOptional(z.string()),
});

/** An error result with one text block. */
export function errorResult(
  code: ErrorCode,
  text: string,
  details: Partial<ToolResultDetails> & { readonly outcome: CallOutcome },
): ToolResult {
  return {
    content: [{ type: 'text', text }],
    isError: true,
    details: { truncated: false, images: 0, ...details, error: { code } },
  };
}
