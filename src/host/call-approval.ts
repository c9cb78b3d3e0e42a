import { messageOf } from '../shared/errors.ts';
import { isRecord, type JsonObject } from '../shared/json.ts';
import type { Limits } from '../shared/limits.ts';
import type { ToolDescriptor } from '../shared/tool.ts';
import { onAbort } from './abort-listeners.ts';
import type { Approve } from './options.ts';
import type { Session } from './session.ts';

/** Asks the host program about each call of one session. Only a plain `allow` lets it through. */
export class CallApproval {
  readonly #approve: Approve;
  readonly #session: Session;
  readonly #limits: Limits;

  constructor(approve: Approve, session: Session, limits: Limits) {
    this.#approve = approve;
    this.#session = session;
    this.#limits = limits;
  }

  /** Why the call is denied; `undefined` when it is allowed. Ends with `over`. */
  async denies(descriptor: ToolDescriptor, args: JsonObject, over: AbortSignal): Promise<string | undefined> {
    const { approvalMs } = this.#limits;
    const asking = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    let unsubscribe = (): void => {};
    const ended = new Promise<string>((resolve) => {
      const late = `it was not approved within ${approvalMs / 1000} s`;
      timer = setTimeout(() => resolve(late), approvalMs);
      unsubscribe = onAbort(over, () => resolve('its caller has given it up'));
    });
    try {
      return await Promise.race([this.#ask(descriptor, args, asking.signal), ended]);
    } finally {
      clearTimeout(timer);
      unsubscribe();
      asking.abort();
    }
  }

  async #ask(descriptor: ToolDescriptor, args: JsonObject, signal: AbortSignal): Promise<string | undefined> {
    try {
      // A copy: what was looked at is what is sent.
      const call = { name: descriptor.name, arguments: structuredClone(args) };
      return reasonOf(await this.#approve(call, descriptor, this.#session, { signal }));
    } catch (error) {
      return `its approval failed: ${messageOf(error)}`;
    }
  }
}

function reasonOf(answer: unknown): string | undefined {
  const { decision, reason } = isRecord(answer) ? answer : { decision: answer, reason: undefined };
  if (decision === 'allow') return undefined;
  return typeof reason === 'string' && reason !== '' ? reason : 'it was not approved';
}
