import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { ExtensionHostError } from '../../../shared/errors.ts';
import type { ServerConfig } from '../../../shared/mcp-options.ts';
import type { Catalog } from './catalog.ts';
import { type DiscoveryCleanup, type DiscoveryServices, discover } from './discovery.ts';

const MAX_AT_ONCE = 4;

interface RunningDiscovery {
  readonly life: AbortController;
  readonly answer: Promise<Catalog>;
  cleanup: DiscoveryCleanup | undefined;
}

/**
 * The discoveries of one thread: at most four run at once, and none belongs to a session, so that a chat that goes away takes
 * nothing from the others. When the last session has gone, {@link endAll} leaves no process and no folder behind.
 */
export class Discoveries {
  readonly #queue = new PQueue({ concurrency: MAX_AT_ONCE });
  /** Until their cleaning up is done. */
  readonly #all = new Set<RunningDiscovery>();

  /** @throws SERVER_START_FAILED; ABORTED when {@link endAll} came first */
  run(config: ServerConfig, services: DiscoveryServices): Promise<Catalog> {
    const life = new AbortController();
    const { signal } = life;
    const answer = this.#queue.add(() => {
      signal.throwIfAborted();
      const onCleanup = (cleanup: DiscoveryCleanup): void => {
        discovery.cleanup = cleanup;
      };
      return discover(config, services, { signal, onCleanup });
    });
    const discovery: RunningDiscovery = { life, answer, cleanup: undefined };
    this.#all.add(discovery);
    void ended(discovery).then(() => this.#all.delete(discovery));
    return answer;
  }

  /** Aborts what runs and waits until everything is cleaned up, but not longer than this. */
  async endAll(timeoutMs: number): Promise<void> {
    if (this.#all.size === 0) return;
    const deadline = performance.now() + timeoutMs;
    const reason = new ExtensionHostError('ABORTED', 'the discovery was ended with the last session');
    const ends = [...this.#all].map((discovery) => {
      discovery.life.abort(reason);
      return ended(discovery, () => Math.max(1, deadline - performance.now()));
    });
    const timer = new AbortController();
    await Promise.race([Promise.all(ends), delay(timeoutMs, undefined, { signal: timer.signal }).catch(() => {})]);
    timer.abort();
  }
}

/** Resolves when a discovery has answered and is cleaned up; with `timeLeft` in a hurry. */
async function ended(discovery: RunningDiscovery, timeLeft?: () => number): Promise<void> {
  // Why it failed is its caller's to know.
  await discovery.answer.catch(() => {});
  if (timeLeft) discovery.cleanup?.hasten(timeLeft());
  await discovery.cleanup?.done;
}
