import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import * as Comlink from 'comlink';
import * as z from 'zod';
import type { ExtensionHostError } from '../../shared/errors.ts';
import type { JsonObject } from '../../shared/json.ts';
import type { Limits } from '../../shared/limits.ts';
import {
  type Commit,
  CommitSchema,
  type SessionOpening,
  type ThreadNote,
  ThreadNoteSchema,
  type ThreadRemote,
} from '../../shared/protocol.ts';
import type { PermissionUse, SandboxBoot } from '../../shared/sandbox.ts';
import { createVitals, readVitals, type Vitals } from '../../shared/vitals.ts';
import { withDeadline } from './deadline.ts';
import { InboundMeter } from './inbound-meter.ts';
import { Link } from './link.ts';
import type { ProcessGuard } from './process-guard.ts';
import type { Pulse } from './pulse.ts';
import * as causes from './thread-causes.ts';
import { ThreadProcesses } from './thread-processes.ts';
import type { Watchdog } from './watchdog.ts';
import { startWorker } from './worker-thread.ts';

/** A port's `close` comes up to 2 ms before the `exit` that has the cause; it is waited for at most this long. */
const EXIT_AFTER_CLOSE_MS = 1000;
/** How long a thread that runs is left to reap the children that were ended. */
const REAP_MS = 300;
/** `terminate()` takes milliseconds, unless the thread is inside of a system call. */
const TERMINATE_MS = 2000;
const ACTIVATION_SLACK_MS = 1000;
/** Of what is not in the protocol, so much is said. */
const VIOLATIONS_TOLD = 10;
const NullSchema = z.null();

export interface GenerationOptions {
  readonly extension: string;
  readonly url: string;
  readonly options: JsonObject;
  readonly settings: JsonObject;
  readonly agentDir: string;
  readonly limits: Limits;
  readonly number: number;
  readonly overlapBytes: number;
  readonly env: Readonly<Record<string, string>>;
  /** In the environment of everything this thread starts. */
  readonly mark: string;
  readonly watchdog: Watchdog;
  readonly guard: Pick<ProcessGuard, 'add' | 'remove'>;
  readonly sandbox: SandboxBoot | undefined;
  readonly onLog: (note: Extract<ThreadNote, { type: 'log' }>) => void;
  readonly onPermissionUse: (use: PermissionUse) => void;
  readonly onRequest: (op: string, payload: unknown) => Promise<unknown>;
}

interface ClosableLink {
  close(error: ExtensionHostError): void;
}

/**
 * One life of an extension's thread. It dies once, with a cause; a new life is another object, so a late event of an old
 * one reaches nobody.
 */
export class ThreadGeneration {
  readonly number: number;
  /** In the environment of everything it starts. */
  readonly mark: string;
  readonly processes: ThreadProcesses;
  /** What comes from its ports, its sessions' ports included. */
  readonly meter: InboundMeter;
  /** Resolves, never rejects, when the thread is of no use any more, with the reason to tell. */
  readonly died: Promise<ExtensionHostError>;
  /** Resolves, never rejects, when nothing of it is left, its processes included. */
  readonly gone: Promise<void>;
  readonly #worker: Worker;
  readonly #link: Link<ThreadRemote, ThreadNote>;
  readonly #options: GenerationOptions;
  readonly #sessionLinks = new Set<ClosableLink>();
  readonly #vitals = createVitals();
  readonly #pulse: Pulse;
  readonly #endWatch: () => void;
  #settleDeath: (cause: ExtensionHostError) => void = () => {};
  #settleGone: () => void = () => {};
  #ending: Promise<void> | undefined;
  #isDead = false;
  #isGone = false;
  #violations = 0;
  #cause: ExtensionHostError | undefined;
  #closeTimer: NodeJS.Timeout | undefined;
  #alive = true;

  constructor(options: GenerationOptions) {
    this.#options = options;
    this.number = options.number;
    this.mark = options.mark;
    this.died = new Promise((resolve) => {
      this.#settleDeath = resolve;
    });
    this.gone = new Promise((resolve) => {
      this.#settleGone = resolve;
    });
    const { extension, limits, guard, mark, watchdog } = options;
    this.processes = new ThreadProcesses({
      mark,
      threadId: () => (this.#isGone ? 0 : this.vitals.threadId),
      onStarted: (pid, start) => guard.add(pid, start),
      onEnded: (pid) => guard.remove(pid),
    });
    this.meter = new InboundMeter(limits, (what) => this.#endNow(causes.flooded(extension, what)));
    const { port1, port2 } = new MessageChannel();
    this.#worker = this.#startWorker(port2);
    this.#link = new Link({
      port: port1,
      meter: this.meter,
      noteSchema: ThreadNoteSchema,
      onNote: (note) => this.#take(note),
      onRequest: options.onRequest,
      onViolation: (what) => this.violation(what),
    });
    port1.once('close', () => this.#portClosed());
    const watch = watchdog.watch({
      vitals: () => this.vitals,
      onLate: (silentMs) => this.#late(silentMs),
      onStalled: (silentMs) => this.#endNow(causes.stalled(extension, silentMs)),
      onMemory: (usedMb) => this.#endNow(causes.overMemory(extension, usedMb, limits.softMemoryMb)),
    });
    this.#pulse = watch.pulse;
    this.#endWatch = watch.release;
  }

  /** False from the first sign of its end on: nothing is sent to it any more. */
  get alive(): boolean {
    return this.#alive;
  }

  /** False while it would not hear what it is asked. */
  get isResponsive(): boolean {
    return this.#alive && this.#pulse.isResponsive;
  }

  get vitals(): Vitals {
    return readVitals(this.#vitals);
  }

  get beatAgeMs(): number {
    return this.#pulse.beatAgeMs;
  }

  /** Says that the thread has sent what the protocol does not know; after a few times that is known. */
  violation(what: string): void {
    this.#violations += 1;
    if (this.#violations <= VIOLATIONS_TOLD) this.#say(`sent ${what}; it is ignored`);
  }

  get utilization(): number {
    return this.#worker.performance.eventLoopUtilization().utilization;
  }

  /** Linear memory of its sandboxed machines, in KiB. */
  get sandboxKb(): number {
    const { sandbox } = this.#options;
    return sandbox && this.#alive ? Atomics.load(new Int32Array(sandbox.memoryKb), 0) : 0;
  }

  /** Imports the extension. @throws EXTENSION_LOAD_FAILED with the file's message, its time, or the end of the thread */
  async load(): Promise<void> {
    const { loadMs } = this.#options.limits;
    await withDeadline(
      this.#link.call('load', [], NullSchema),
      loadMs,
      causes.loadedLate(this.#options.extension, loadMs),
    );
  }

  /** Activates an instance. `port` goes to the thread. */
  async openSession(opening: SessionOpening, port: MessagePort): Promise<Commit> {
    const { factoryMs } = this.#options.limits;
    const answer = this.#link.call('openSession', [opening, Comlink.transfer(port, [port])], CommitSchema);
    // The thread keeps the time of the factory; this is for a thread that does not answer at all.
    return withDeadline(answer, factoryMs + ACTIVATION_SLACK_MS, causes.activatedLate(factoryMs + ACTIVATION_SLACK_MS));
  }

  /** Closes the link when the thread dies. A set, not a promise's reactions: those would stay for the life of the thread. */
  adopt(link: ClosableLink): void {
    if (this.#cause && !this.#alive) link.close(this.#cause);
    else this.#sessionLinks.add(link);
  }

  release(link: ClosableLink): void {
    this.#sessionLinks.delete(link);
  }

  /** Tells other settings; resolves when the thread has them, or has ended. */
  async tellSettings(settings: JsonObject): Promise<void> {
    if (this.#alive) await this.#link.call('settings', [settings], NullSchema).catch(() => {});
  }

  /**
   * Ends the thread: its processes first, while it can still reap them, then the thread itself. Idempotent. `graceMs` is what
   * a thread in good order gets to end its processes itself; 0 ends its calls at once.
   */
  end(cause: ExtensionHostError, graceMs: number): Promise<void> {
    this.#cause ??= cause;
    this.#ending ??= this.#end(cause, graceMs);
    return this.#ending;
  }

  async #end(cause: ExtensionHostError, graceMs: number): Promise<void> {
    const runs = this.isResponsive;
    if (runs && graceMs > 0) {
      if (this.processes.mayHaveAny) await this.processes.survey();
      await withDeadline(this.#link.call('shutdown', [graceMs], NullSchema), graceMs + 200, cause).catch(() => {});
    }
    this.#die(cause);
    if (this.processes.mayHaveAny) await this.processes.end(runs ? REAP_MS : 0);
    await this.#terminate();
    this.#clear();
    await this.gone;
  }

  async #terminate(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#say('cannot be ended: its thread is inside of a system call');
        resolve();
      }, TERMINATE_MS);
    });
    await Promise.race([this.#worker.terminate(), late]);
    clearTimeout(timer);
  }

  #startWorker(control: MessagePort): Worker {
    const { extension, url, options, settings, agentDir, limits, number, overlapBytes, env, sandbox } = this.#options;
    const vitals = this.#vitals;
    const boot = {
      extension,
      url,
      options,
      settings,
      agentDir,
      limits,
      generation: number,
      overlapBytes,
      vitals,
      ...(sandbox ? { sandbox } : {}),
      control,
    };
    const worker = startWorker(boot, control, env);
    worker.on('error', (error) => this.#failed(error));
    worker.on('exit', (code) => this.#exited(code));
    return worker;
  }

  #take(note: ThreadNote): void {
    const { extension, onLog } = this.#options;
    switch (note.type) {
      case 'log':
        onLog(note);
        break;
      case 'permission-use':
        this.#options.onPermissionUse(note.use);
        break;
      case 'process':
        this.processes.note(note);
        break;
      case 'dying':
        this.#endNow(causes.endedWith(extension, note.message));
        break;
    }
  }

  #late(silentMs: number): void {
    const { stallMs } = this.#options.limits;
    this.#say(`has not responded for ${causes.seconds(silentMs)} s; it is ended after ${causes.seconds(stallMs)} s`);
  }

  #say(what: string): void {
    const { extension, onLog } = this.#options;
    onLog({ type: 'log', level: 'warn', message: `extension ${extension} ${what}` });
  }

  #failed(error: unknown): void {
    this.#alive = false;
    this.#cause ??= causes.failed(this.#options.extension, error);
  }

  #exited(code: number): void {
    this.#die(causes.exitedWith(this.#options.extension, code));
    if (!this.#ending) this.#clear();
  }

  #portClosed(): void {
    if (this.#isDead) return;
    this.#alive = false;
    const closed = (): void => this.#endNow(causes.closedPort(this.#options.extension));
    this.#closeTimer = setTimeout(closed, EXIT_AFTER_CLOSE_MS);
  }

  #endNow(cause: ExtensionHostError): void {
    void this.end(cause, 0);
  }

  /** Its calls end now; the thread itself may still run. */
  #die(fallback: ExtensionHostError): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#alive = false;
    this.#endWatch();
    clearTimeout(this.#closeTimer);
    const cause = this.#cause ?? fallback;
    this.#cause = cause;
    this.#link.close(cause);
    for (const link of this.#sessionLinks) link.close(cause);
    this.#sessionLinks.clear();
    this.#settleDeath(cause);
  }

  /** The thread has ended: what it has left behind is ended, too. */
  #clear(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    void this.processes.end(0).then(() => {
      this.processes.forget();
      this.#settleGone();
    });
  }
}
