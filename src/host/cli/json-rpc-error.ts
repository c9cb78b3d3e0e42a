import { ExtensionHostError, messageOf } from '../../shared/errors.ts';
import { isRecord } from '../../shared/json.ts';

/** The codes of JSON-RPC 2.0, LSP's code for a cancelled request, and one for every error of the host. */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  hostError: -32000,
  cancelled: -32800,
} as const;

/** An error of the protocol itself, thrown while a message is read or dispatched. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

/** `error` of an answer. */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What anything that was thrown looks like to the client. `data.code` is the host's own code, where there is one. */
export function toRpcError(thrown: unknown): RpcErrorObject {
  if (thrown instanceof RpcError) return errorObject(thrown.code, thrown.message, thrown.data);
  if (!(thrown instanceof ExtensionHostError))
    return errorObject(RPC_CODES.internalError, messageOf(thrown), undefined);
  return errorObject(codeOf(thrown), thrown.message, {
    ...(isRecord(thrown.data) ? thrown.data : {}),
    code: thrown.code,
  });
}

function codeOf({ code }: ExtensionHostError): number {
  if (code === 'ABORTED') return RPC_CODES.cancelled;
  return code === 'INVALID_ARGUMENT' ? RPC_CODES.invalidParams : RPC_CODES.hostError;
}

function errorObject(code: number, message: string, data: unknown): RpcErrorObject {
  return { code, message, ...(data === undefined ? {} : { data }) };
}
