import { isRecord } from '../../../../shared/json.ts';
import { KEPT_BYTES } from '../process/line-framer.ts';
import { printableLine } from '../process/printable-line.ts';
import { guessFrame } from './answer-id.ts';
import { isRequestId, type RequestId } from './request-id.ts';

/** What one line of a server's stdout is. */
export type Frame =
  | { readonly kind: 'answer'; readonly id: RequestId; readonly result: Readonly<Record<string, unknown>> }
  | { readonly kind: 'error'; readonly id: RequestId; readonly code: number; readonly message: string }
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params?: Params }
  | { readonly kind: 'notification'; readonly method: string; readonly params?: Params }
  /** An answer to these requests that cannot be used: they fail at once, instead of at their timeout. */
  | { readonly kind: 'malformed'; readonly ids: readonly RequestId[]; readonly why: string }
  /** An answer to no pending request: late, or with an id of another type. */
  | { readonly kind: 'stray'; readonly id: RequestId }
  /** No protocol; `text` is the line. */
  | { readonly kind: 'noise'; readonly text: string }
  | { readonly kind: 'blank' };

/** The requests without an answer yet. */
export type PendingIds = Pick<ReadonlySet<RequestId>, 'has'>;

export type Params = Readonly<Record<string, unknown>>;

const INTERNAL_ERROR = -32603;
/** Where a frame may begin behind glued text. */
const FRAME_START = /\{\s*"(?:jsonrpc|id|result|error)"\s*:/g;
const SALVAGE_ATTEMPTS = 8;
const BARE_ANSWER_KEYS: ReadonlySet<string> = new Set(['id', 'result', 'error']);

/** Reads one line. `pending` are the requests without an answer: an answer to anything else is noise. */
export function readFrame(line: string, pending: PendingIds): Frame {
  const text = line.trim();
  if (text === '') return { kind: 'blank' };
  const value = text.startsWith('{') || text.startsWith('[') ? parse(text) : undefined;
  const frame = value === undefined ? (salvage(text, pending) ?? broken(text, pending)) : classify(value, pending);
  return frame ?? { kind: 'noise', text };
}

function classify(value: unknown, pending: PendingIds): Frame | undefined {
  if (Array.isArray(value)) return batch(value, pending);
  if (!isRecord(value)) return undefined;
  const { jsonrpc, id, method } = value;
  if (jsonrpc === '2.0' && typeof method === 'string') return asked(id, method, value['params']);
  if (!isRequestId(id) || !('result' in value || 'error' in value)) return undefined;
  if (!pending.has(id)) return jsonrpc === '2.0' ? { kind: 'stray', id } : undefined;
  if (jsonrpc === '2.0') return answered(id, value);
  // Without a version it may be somebody's structured log, unless it holds nothing but an answer.
  if (jsonrpc === undefined && !Object.keys(value).every((key) => BARE_ANSWER_KEYS.has(key))) return undefined;
  return { kind: 'malformed', ids: [id], why: `its "jsonrpc" is ${shown(jsonrpc)}, not "2.0"` };
}

function asked(id: unknown, method: string, given: unknown): Frame | undefined {
  // The SDK leaves a request unanswered whose params or _meta are of a wrong type; nothing we offer needs them.
  const usable = isRecord(given) && (given['_meta'] === undefined || isRecord(given['_meta'])) ? given : undefined;
  const params = usable === undefined ? {} : { params: usable };
  if (id === undefined) return { kind: 'notification', method, ...params };
  return isRequestId(id) ? { kind: 'request', id, method, ...params } : undefined;
}

function answered(id: RequestId, { result, error }: Record<string, unknown>): Frame {
  if (error !== undefined && error !== null) return { kind: 'error', id, ...readError(error) };
  if (isRecord(result)) return { kind: 'answer', id, result };
  const found = Array.isArray(result) ? 'an array' : result === null ? 'null' : typeof result;
  return { kind: 'malformed', ids: [id], why: `its "result" is ${found}, not an object` };
}

/** An error object as far as it goes: a wrong code or a bare string is still the server's word. */
function readError(error: unknown): { readonly code: number; readonly message: string } {
  const { code, message } = isRecord(error) ? error : { code: undefined, message: error };
  const text = typeof message === 'string' ? message : message === undefined ? '' : JSON.stringify(message);
  return { code: Number.isSafeInteger(code) ? Number(code) : INTERNAL_ERROR, message: text };
}

function batch(entries: readonly unknown[], pending: PendingIds): Frame | undefined {
  const ids = new Set<RequestId>();
  for (const entry of entries) {
    if (
      isRecord(entry) &&
      isRequestId(entry['id']) &&
      pending.has(entry['id']) &&
      typeof entry['method'] !== 'string'
    ) {
      ids.add(entry['id']);
    }
  }
  if (ids.size === 0) return undefined;
  return { kind: 'malformed', ids: [...ids], why: 'it is a batch (a JSON array), which MCP does not have' };
}

/** A frame with text glued in front (a log line without its newline), but only the answer to a pending request. */
function salvage(text: string, pending: PendingIds): Frame | undefined {
  let attempts = 0;
  for (const { index } of text.matchAll(FRAME_START)) {
    if (index === 0) continue;
    attempts += 1;
    if (attempts > SALVAGE_ATTEMPTS) return undefined;
    const frame = classify(parse(text.slice(index)), pending);
    if (frame?.kind === 'answer' || frame?.kind === 'error') return frame;
  }
  return undefined;
}

/** An answer that is no JSON (a bare `NaN`, a line cut in two), when its id can be made out. */
function broken(text: string, pending: PendingIds): Frame | undefined {
  if (!text.startsWith('{')) return undefined;
  const { id } = guessFrame(text.slice(0, KEPT_BYTES), text.slice(-KEPT_BYTES));
  return id !== undefined && pending.has(id)
    ? { kind: 'malformed', ids: [id], why: 'it is not valid JSON' }
    : undefined;
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : printableLine(JSON.stringify(value), 40);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
