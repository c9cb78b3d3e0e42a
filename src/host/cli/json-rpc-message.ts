import { isRecord } from '../../shared/json.ts';
import { RPC_CODES, RpcError } from './json-rpc-error.ts';

/** What a request carries and its answer repeats. `7` and `"7"` are two ids. */
export type RpcId = string | number;

export type IncomingMessage =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'answer'; readonly id: RpcId | null; readonly result?: unknown; readonly refused?: string }
  | { readonly kind: 'invalid'; readonly id: RpcId | null; readonly error: RpcError };

/** Reads one line. Nothing is thrown: what is no message comes back as `invalid` with the error to answer. */
export function readMessage(line: string): IncomingMessage {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return invalid(
      null,
      RPC_CODES.parseError,
      'this line is no JSON: send one message a line, without newlines inside',
    );
  }
  if (Array.isArray(message)) {
    return invalid(
      null,
      RPC_CODES.invalidRequest,
      'batches are not supported: send one message a line (they run at once)',
    );
  }
  if (!isRecord(message)) {
    return invalid(
      null,
      RPC_CODES.invalidRequest,
      'a message is a JSON object: { "jsonrpc": "2.0", "id", "method", "params" }',
    );
  }
  return readEnvelope(message);
}

/** A message that wants no answer. */
export function notification(method: string, params: object): object {
  return { jsonrpc: '2.0', method, params };
}

function readEnvelope(message: Record<string, unknown>): IncomingMessage {
  const { id, method, params } = message;
  const validId = typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id)) ? id : null;
  const refuse = (text: string): IncomingMessage => invalid(validId, RPC_CODES.invalidRequest, text);
  if (message['jsonrpc'] !== '2.0') return refuse('"jsonrpc" must be "2.0"');
  if (method === undefined && ('result' in message || 'error' in message)) return readAnswer(validId, message);
  if (typeof method !== 'string') return refuse('"method" must be a string');
  if (!('id' in message)) return { kind: 'notification', method, params };
  if (validId === null) return refuse('"id" must be a string or a number; leave it out for a notification');
  return { kind: 'request', id: validId, method, params };
}

function readAnswer(id: RpcId | null, { result, error }: Record<string, unknown>): IncomingMessage {
  if (error === undefined) return { kind: 'answer', id, result };
  const text = isRecord(error) && typeof error['message'] === 'string' ? error['message'] : 'the client refused';
  return { kind: 'answer', id, refused: text };
}

function invalid(id: RpcId | null, code: number, text: string): IncomingMessage {
  return { kind: 'invalid', id, error: new RpcError(code, text) };
}

/** Strings, a string that is cut off by the end, punctuation, and anything else that is one word. */
const TOKENS = /"(?:[^"\\]|\\.)*"|"[\s\S]*$|[{}[\],:]|[^\s"{}[\],:]+/g;

/**
 * The id of a message that is too long to be read, when it stands in its first bytes; else null. Only the message's own
 * `id` counts, not one inside `params`.
 */
export function idInHead(head: string): RpcId | null {
  const tokens = head.match(TOKENS) ?? [];
  let depth = 0;
  for (const [i, token] of tokens.entries()) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    // What follows the value shows that it is whole.
    else if (depth === 1 && token === '"id"' && tokens[i + 1] === ':' && tokens[i + 3] === ',') {
      return asId(tokens[i + 2] ?? '');
    }
  }
  return null;
}

function asId(token: string): RpcId | null {
  try {
    const value: unknown = JSON.parse(token);
    return typeof value === 'string' || typeof value === 'number' ? value : null;
  } catch {
    return null;
  }
}
