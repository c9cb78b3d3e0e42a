import type * as z from 'zod';
import type { CallOptions } from '../options.ts';
import { notification } from './json-rpc-message.ts';
import type { RpcCall } from './json-rpc-stream.ts';
import type { Outbox } from './outbox.ts';
import { readParams } from './rpc-params.ts';

/** One request that is answered. */
export interface Method {
  /** True when it is answered before the host has started and while it closes. */
  readonly always: boolean;
  /** Checks the params and gives what is then to be done. */
  prepare(method: string, params: unknown, call: RpcCall): () => Promise<object> | object;
}

/** A method whose params are checked by a schema. */
export function define<T>(
  schema: z.ZodObject & z.ZodType<T>,
  run: (params: T, call: RpcCall) => Promise<object> | object,
  { always = false } = {},
): Method {
  return {
    always,
    prepare(method, params, call) {
      const checked = readParams(method, schema, params);
      return () => run(checked, call);
    },
  };
}

/** Progress goes to whoever waits for the answer. */
export function callOptions({ id, signal }: RpcCall, outbox: Outbox): CallOptions {
  if (id === undefined) return { signal };
  return {
    signal,
    onProgress: (progress) => outbox.offer('$/progress', notification('$/progress', { id, ...progress })),
  };
}
