import { ExtensionHostError, fromWireError } from '../shared/errors.ts';
import type { Limits } from '../shared/limits.ts';
import type { MessagePortLike } from '../shared/port-endpoint.ts';
import type { HostAnswers, HostRequestName, HostRequestPayload, Outcome } from '../shared/protocol.ts';

/** How many host requests of one thread may be in flight; shared by its ports. */
export class RequestBudget {
  readonly #limits: Limits;
  #inFlight = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Resolves when there is room. @throws HOST_BUSY when too many wait already */
  async enter(): Promise<void> {
    if (this.#inFlight < this.#limits.hostRequestsInFlight) {
      this.#inFlight += 1;
      return;
    }
    if (this.#waiting.length >= this.#limits.hostRequestsQueued) {
      throw new ExtensionHostError(
        'HOST_BUSY',
        'too many requests of this extension wait for the host; ask for less at once',
      );
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#inFlight -= 1;
  }
}

/** Asks the host for something over one port and takes its answers. */
export class HostClient {
  readonly #port: MessagePortLike;
  readonly #budget: RequestBudget;
  readonly #pending = new Map<number, (outcome: Outcome<unknown>) => void>();
  #next = 1;
  #closed: ExtensionHostError | undefined;

  constructor(port: MessagePortLike, budget: RequestBudget) {
    this.#port = port;
    this.#budget = budget;
  }

  async request<Name extends HostRequestName>(op: Name, payload: HostRequestPayload<Name>): Promise<HostAnswers[Name]> {
    await this.#budget.enter();
    try {
      return await this.requestApart(op, payload);
    } finally {
      this.#budget.leave();
    }
  }

  /** The same outside of the budget: for what waits for people and would hold up everything else. */
  async requestApart<Name extends HostRequestName>(
    op: Name,
    payload: HostRequestPayload<Name>,
  ): Promise<HostAnswers[Name]> {
    if (this.#closed) throw this.#closed;
    const outcome = await new Promise<Outcome<unknown>>((resolve) => {
      const id = this.#next++;
      // Posted first: a payload that cannot be cloned rejects here and leaves nothing pending.
      this.#port.postMessage({ request: { id, op, payload } });
      this.#pending.set(id, resolve);
    });
    if (!outcome.ok) throw fromWireError(outcome.error);
    return outcome.value as HostAnswers[Name];
  }

  /** Called through Comlink by the host. */
  answer(id: number, outcome: Outcome<unknown>): void {
    const resolve = this.#pending.get(id);
    this.#pending.delete(id);
    resolve?.(outcome);
  }

  /** Rejects what is pending; later requests reject at once. */
  close(error: ExtensionHostError): void {
    this.#closed ??= error;
    const { name, code, message } = this.#closed;
    for (const resolve of this.#pending.values()) resolve({ ok: false, error: { name, code, message } });
    this.#pending.clear();
  }
}
