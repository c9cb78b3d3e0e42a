import type { ProcessTree } from './process-tree.ts';

/** Of the whole time: until when the server's own hook, stdin's end and SIGTERM are given. */
const HOOK_SHARE = 0.4;
const INPUT_END_SHARE = 0.75;
const TERMINATE_SHARE = 0.9;
const POLL_MS = 20;
/** SIGTERM to SIGKILL for what a server that ended by itself leaves behind. */
const LEFTOVER_GRACE_MS = 300;
/** After SIGKILL a process is gone in milliseconds, unless the kernel holds it. */
const KILLED_WAIT_MS = 2000;

export interface LadderSteps {
  readonly tree: ProcessTree;
  /** Asks the server to save its state; what becomes of it does not matter. Absent = it has no such tool. */
  readonly hook?: (() => Promise<void>) | undefined;
  /** Closes the server's stdin. */
  readonly endInput: () => void;
  readonly hasExited: () => boolean;
}

/**
 * Ends a living server step by step: its own stop hook, stdin's end, SIGTERM to its group, SIGKILL to its group, then whatever it started
 * elsewhere. Each step ends early when nothing of the group is left.
 */
export class StopLadder {
  readonly #steps: LadderSteps;
  readonly #startedAt = performance.now();
  #timeoutMs: number;

  constructor(steps: LadderSteps, timeoutMs: number) {
    this.#steps = steps;
    this.#timeoutMs = timeoutMs;
  }

  /** Never lengthens. */
  shorten(timeoutMs: number): void {
    this.#timeoutMs = Math.min(this.#timeoutMs, performance.now() - this.#startedAt + timeoutMs);
  }

  /** @returns False when something could not be ended. */
  async run(): Promise<boolean> {
    const { tree, endInput } = this.#steps;
    // Before anything ends: an orphan cannot be found by its parent any more.
    tree.survey();
    await this.#runHook();
    if (this.#timeoutMs > 0) endInput();
    if (!(await this.#gone(() => this.#timeoutMs * INPUT_END_SHARE))) {
      tree.survey();
      if (this.#timeoutMs > 0) tree.signalGroup('SIGTERM');
      if (!(await this.#gone(() => this.#timeoutMs * TERMINATE_SHARE))) {
        tree.survey();
        tree.signalGroup('SIGKILL');
        const killedAt = performance.now() - this.#startedAt;
        await this.#gone(() => killedAt + KILLED_WAIT_MS);
      }
    }
    const remainingMs = this.#timeoutMs - (performance.now() - this.#startedAt);
    return (await endLeftovers(tree, Math.max(0, Math.min(LEFTOVER_GRACE_MS, remainingMs)))) && this.#steps.hasExited();
  }

  async #runHook(): Promise<void> {
    const { tree, hook, hasExited } = this.#steps;
    if (!hook || hasExited() || this.#timeoutMs <= 0) return;
    const running = { isDone: false };
    void hook()
      .catch(() => {})
      .then(() => {
        running.isDone = true;
      });
    // Looked at again and again, since the time can be shortened meanwhile.
    while (!running.isDone && !hasExited() && performance.now() - this.#startedAt < this.#timeoutMs * HOOK_SHARE) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    // What came up while the hook ran.
    tree.survey();
  }

  /** Waits until the server and its group are gone, or the clock (from the start on, in ms) has run out. */
  async #gone(untilMs: () => number): Promise<boolean> {
    const { tree, hasExited } = this.#steps;
    for (;;) {
      if (hasExited() && !tree.groupLives()) return true;
      if (performance.now() - this.#startedAt >= untilMs()) return false;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/** Ends what is left of a tree whose root is gone. Returns at once when there is nothing. */
export async function endLeftovers(tree: ProcessTree, graceMs = LEFTOVER_GRACE_MS): Promise<boolean> {
  const startedAt = performance.now();
  let terminated = false;
  for (;;) {
    tree.survey();
    if (tree.living().length === 0) return true;
    const elapsed = performance.now() - startedAt;
    if (elapsed > graceMs + KILLED_WAIT_MS) return false;
    if (elapsed >= graceMs) tree.signalDescendants('SIGKILL');
    else if (!terminated) tree.signalDescendants('SIGTERM');
    terminated = true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
