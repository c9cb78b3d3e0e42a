import { ExtensionHostError, isErrorCode, messageOf } from '../../shared/errors.ts';
import { ToolExecutionError } from '../../shared/extension-api.ts';
import { isRecord } from '../../shared/json.ts';
import type { SandboxLimits } from '../../shared/sandbox.ts';
import { GUEST_PROGRAM } from './guest-program.ts';
import { type FromGuest, FromGuestSchema, type GuestError, type ToGuest } from './guest-protocol.ts';
import { Meter } from './meter.ts';
import type { ModuleLoader } from './module-loader.ts';
import { createVirtualMachine, type VirtualMachine, VirtualMachineStop } from './virtual-machine.ts';

/** Requests of one guest that wait for an answer. */
const REQUESTS = 64;

export interface GuestOptions {
  readonly modules: ModuleLoader;
  readonly limits: SandboxLimits;
  /** Answered at once. What it throws is shown to the guest as code and message. */
  readonly onCall: (op: string, payload: unknown) => unknown;
  /** Answered later; `signal` fires with the end of the run that asked. */
  readonly onRequest: (op: string, payload: unknown, signal: AbortSignal) => Promise<unknown>;
  /** Its linear memory may have changed. */
  readonly onMemory: () => void;
}

type RunRequest = ToGuest extends infer Message
  ? Message extends { type: 'run' }
    ? Omit<Message, 'type' | 'id'>
    : never
  : never;

interface Run {
  readonly id: number;
  readonly meter: Meter;
  readonly life: AbortController;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One guest: a machine with an extension's code in it, and what runs there. A run ends with its answer, at its time limits, or
 * with the machine: one that overran its CPU time or its memory is stopped in the middle of anything, so it is not used again.
 */
export class Guest {
  readonly #options: GuestOptions;
  readonly #runs = new Map<number, Run>();
  readonly #vm: VirtualMachine;
  /** Whose time it is that passes now. */
  #current: Run | undefined;
  #next = 1;
  #requests = 0;
  #dead: ExtensionHostError | undefined;

  private constructor(options: GuestOptions, vm: VirtualMachine) {
    this.#options = options;
    this.#vm = vm;
  }

  static async create(options: GuestOptions): Promise<Guest> {
    const { modules, limits } = options;
    let guest: Guest | undefined;
    const vm = await createVirtualMachine(GUEST_PROGRAM, {
      memoryBytes: limits.memoryMb * 1024 * 1024,
      interrupt: () => (guest ? guest.#isOver() : false),
      onMessage: (text) => JSON.stringify(guest ? guest.#take(text) : {}),
      resolve: (base, specifier) => modules.resolve(base, specifier),
      load: (name) => modules.load(name),
    });
    guest = new Guest(options, vm);
    return guest;
  }

  get alive(): boolean {
    return this.#dead === undefined;
  }

  get memoryBytes(): number {
    return this.#dead ? 0 : this.#vm.memoryBytes;
  }

  /**
   * Runs something in the guest. `id` names it in messages from there (progress).
   * @throws what the guest threw; CALL_TIMEOUT at a time limit; THREAD_MEMORY at the memory limit; ABORTED
   */
  async run(request: RunRequest, signal?: AbortSignal, started?: (id: number) => void): Promise<unknown> {
    if (this.#dead) throw this.#dead;
    const id = this.#next++;
    const { callMs } = this.#options.limits;
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => this.#send(id, { type: 'abort', id, reason: errorOf(signal?.reason) });
    try {
      return await new Promise<unknown>((resolve, reject) => {
        const run: Run = { id, meter: new Meter(this.#options.limits), life: new AbortController(), resolve, reject };
        this.#runs.set(id, run);
        timer = setTimeout(() => {
          const late = new ExtensionHostError(
            'CALL_TIMEOUT',
            `it did not end within its limit of ${callMs} ms (timed out)`,
          );
          this.#send(id, { type: 'abort', id, reason: errorOf(late) });
          reject(late);
        }, callMs);
        signal?.addEventListener('abort', onAbort, { once: true });
        started?.(id);
        this.#send(id, { type: 'run', id, ...request } as ToGuest);
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      this.#runs.get(id)?.life.abort(new ExtensionHostError('ABORTED', 'the run has ended'));
      this.#runs.delete(id);
    }
  }

  /** The session is over: signals fire in the guest, then it is gone. Idempotent. */
  end(error: ExtensionHostError): void {
    if (this.#dead) return;
    this.#die(error);
  }

  #send(runId: number | undefined, message: ToGuest): void {
    if (this.#dead) return;
    const run = runId === undefined ? undefined : this.#runs.get(runId);
    // What comes late for a run that is over still costs time: it is held to limits of its own.
    const { meter } = run ?? { meter: new Meter(this.#options.limits) };
    const before = this.#current;
    this.#current = run ?? { id: 0, meter, life: new AbortController(), resolve: () => {}, reject: () => {} };
    meter.begin();
    try {
      this.#vm.post(JSON.stringify(message));
      // A stop inside an import is a rejection that the guest can catch: the meter knows better.
      if (meter.tripped) this.#die(this.#overTime(meter.tripped));
    } catch (error) {
      this.#die(this.#stopError(error, meter));
    } finally {
      meter.end();
      this.#current = before;
      this.#options.onMemory();
    }
  }

  #isOver(): boolean {
    return this.#current?.meter.isOver() ?? false;
  }

  #take(text: string): { readonly value?: unknown; readonly error?: GuestError } {
    try {
      const message = FromGuestSchema.safeParse(JSON.parse(text));
      if (!message.success) throw new ExtensionHostError('PROTOCOL', 'the message is not in the protocol');
      return this.#handle(message.data);
    } catch (error) {
      return { error: errorOf(error) };
    }
  }

  #handle(message: FromGuest): { readonly value?: unknown } {
    switch (message.type) {
      case 'done':
        this.#done(message);
        return {};
      case 'call': {
        const value = this.#options.onCall(message.op, message.payload);
        return value === undefined ? {} : { value };
      }
      case 'request':
        this.#request(message.id, message.op, message.payload);
        return {};
    }
  }

  #done(message: Extract<FromGuest, { type: 'done' }>): void {
    const run = this.#runs.get(message.id);
    if (!run) return;
    if (message.ok) run.resolve(message.value);
    else run.reject(thrownBy(message.error));
  }

  #request(id: number, op: string, payload: unknown): void {
    if (this.#requests >= REQUESTS)
      throw new ExtensionHostError('HOST_BUSY', `more than ${REQUESTS} requests at once; wait for answers`);
    const run = this.#current;
    const signal = run?.life.signal ?? AbortSignal.abort();
    this.#requests += 1;
    this.#options
      .onRequest(op, payload, signal)
      .then(
        (value): ToGuest => ({ type: 'answer', id, ...(value === undefined ? {} : { value }) }),
        (error: unknown): ToGuest => ({ type: 'answer', id, error: errorOf(error) }),
      )
      .then((answer) => {
        this.#requests -= 1;
        this.#send(run?.id, answer);
      })
      .catch((error: unknown) => this.#die(new ExtensionHostError('PROTOCOL', messageOf(error))));
  }

  #stopError(error: unknown, meter: Meter): ExtensionHostError {
    if (meter.tripped) return this.#overTime(meter.tripped);
    const { memoryMb } = this.#options.limits;
    if (error instanceof VirtualMachineStop && error.reason === 'memory') {
      return new ExtensionHostError(
        'THREAD_MEMORY',
        `it used more than its limit of ${memoryMb} MiB of memory and was ended; its state was lost`,
      );
    }
    return new ExtensionHostError('THREAD_EXITED', `its sandbox ended: ${messageOf(error)}; its state was lost`);
  }

  #overTime(tripped: 'cpu' | 'wall'): ExtensionHostError {
    const { cpuMs, callMs } = this.#options.limits;
    const limit = tripped === 'cpu' ? `${cpuMs} ms of CPU time` : `${callMs} ms`;
    return new ExtensionHostError(
      'CALL_TIMEOUT',
      `it ran over its limit of ${limit} and was ended; its state was lost`,
    );
  }

  #die(cause: ExtensionHostError): void {
    if (this.#dead) return;
    this.#dead = cause;
    for (const run of this.#runs.values()) {
      run.life.abort(cause);
      run.reject(cause);
    }
    this.#vm.dispose();
    this.#options.onMemory();
  }
}

/** What the guest is shown of a failure. */
function errorOf(error: unknown): GuestError {
  return { ...(error instanceof ExtensionHostError ? { code: error.code } : {}), message: messageOf(error) };
}

function thrownBy({
  message,
  code,
  result,
}: {
  readonly message: string;
  readonly code?: string;
  readonly result?: unknown;
}): Error {
  if (isRecord(result) && Array.isArray(result['content'])) {
    return new ToolExecutionError(result as unknown as ConstructorParameters<typeof ToolExecutionError>[0]);
  }
  return isErrorCode(code) ? new ExtensionHostError(code, message) : new Error(message);
}
