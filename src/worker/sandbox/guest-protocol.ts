import * as z from 'zod';

/**
 * What crosses between a thread and the guest inside its engine, as JSON text. Everything from the guest is hostile: it can
 * reach the function that posts, and say whatever it likes with it.
 */

/** A failure as the guest sees it: no class, no stack. */
export interface GuestError {
  readonly code?: string;
  readonly message: string;
}

/** Thread → guest. */
export type ToGuest =
  | { readonly type: 'run'; readonly id: number; readonly kind: 'load'; readonly entry: string }
  | { readonly type: 'run'; readonly id: number; readonly kind: 'activate'; readonly api: object; readonly ctx: object }
  | {
      readonly type: 'run';
      readonly id: number;
      readonly kind: 'tool';
      readonly callback: number;
      readonly callId: string;
      readonly params: unknown;
      readonly ctx: object;
    }
  | {
      readonly type: 'run';
      readonly id: number;
      readonly kind: 'command';
      readonly callback: number;
      readonly args: string;
      readonly ctx: object;
    }
  | {
      readonly type: 'run';
      readonly id: number;
      readonly kind: 'event';
      readonly callback: number;
      readonly event: unknown;
      readonly ctx: object;
    }
  | { readonly type: 'abort'; readonly id: number; readonly reason: GuestError }
  | { readonly type: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: GuestError };

const Id = z.int().nonnegative();

/** Guest → thread: the end of a run, a call that is answered at once, or a request that is answered later. */
export const FromGuestSchema = z.discriminatedUnion('type', [
  z.discriminatedUnion('ok', [
    z.object({ type: z.literal('done'), id: Id, ok: z.literal(true), value: z.exactOptional(z.unknown()) }),
    z.object({
      type: z.literal('done'),
      id: Id,
      ok: z.literal(false),
      error: z.object({ message: z.string(), code: z.exactOptional(z.string()), result: z.exactOptional(z.unknown()) }),
    }),
  ]),
  z.object({ type: z.literal('call'), op: z.string(), payload: z.unknown() }),
  z.object({ type: z.literal('request'), id: Id, op: z.string(), payload: z.unknown() }),
]);

export type FromGuest = z.infer<typeof FromGuestSchema>;
