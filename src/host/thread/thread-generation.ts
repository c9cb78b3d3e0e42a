import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import * as Comlink from 'comlink';
import * as z from 'zod';
import { ExtensionHostError, messageOf } from '../../shared/errors.ts';
import type { JsonObject } from '../../shared/json.ts';
import type { Limits } from '../../shared/limits.ts';
import {
  type Commit,
  CommitSchema,
  type SessionOpening,
  type ThreadBoot,
  type ThreadNote,
  ThreadNoteSchema,
  type ThreadRemote,
} from '../../shared/protocol.ts';
import { Link } from './link.ts';
import { ProcessTable } from './process-table.ts';
import { WORKER_ENTRY } from './worker-entry.ts';

/** A port's `close` comes up to 2 ms before the `exit` that has the cause; it is waited for at most this long. */
const EXIT_AFTER_CLOSE_MS = 1000;
const NullSchema = z.null();

export interface GenerationOptions {
  readonly extension: string;
  readonly url: string;
  readonly options: JsonObject;
  readonly agentDir: string;
  readonly limits: Limits;
  readonly number: number;
  readonly overlapBytes: number;
  readonly env: Readonly<Record<string, string>>;
  readonly onNote: (note: Extract<ThreadNote, { type: 'log' }>) => void;
  readonly onRequest: (op: string, payload: unknown) => Promise<unknown>;
  readonly onViolation: (what: string) => void;
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
  readonly processes = new ProcessTable();
  /** Resolves, never rejects, when the thread has ended, with the reason to tell. */
  readonly died: Promise<ExtensionHostError>;
  readonly #worker: Worker;
  readonly #link: Link<ThreadRemote, ThreadNote>;
  readonly #options: GenerationOptions;
  readonly #sessionLinks = new Set<ClosableLink>();
  #settleDeath: (cause: ExtensionHostError) => void = () => {};
  #cause: ExtensionHostError | undefined;
  #closeTimer: NodeJS.Timeout | undefined;
  #alive = true;

  constructor(options: GenerationOptions) {
    this.#options = options;
    this.number = options.number;
    this.died = new Promise((resolve) => {
      this.#settleDeath = resolve;
    });
    const { port1, port2 } = new MessageChannel();
    this.#worker = this.#startWorker(port2);
    this.#link = new Link({
      port: port1,
      noteSchema: ThreadNoteSchema,
      onNote: (note) => this.#take(note),
      onRequest: options.onRequest,
      onViolation: options.onViolation,
    });
    port1.once('close', () => this.#portClosed());
  }

  /** False from the first sign of its end on: nothing is sent to it any more. */
  get alive(): boolean {
    return this.#alive;
  }

  get utilization(): number {
    return this.#worker.performance.eventLoopUtilization().utilization;
  }

  /** Imports the extension. @throws EXTENSION_LOAD_FAILED with the file's message, its time, or the end of the thread */
  async load(): Promise<void> {
    const { loadMs } = this.#options.limits;
    const late = new ExtensionHostError(
      'EXTENSION_LOAD_FAILED',
      `extension ${this.#options.extension} did not load within ${loadMs / 1000} s (timed out)`,
    );
    await withDeadline(this.#link.call('load', [], NullSchema), loadMs, late);
  }

  /** Activates an instance. `port` goes to the thread. */
  async openSession(opening: SessionOpening, port: MessagePort): Promise<Commit> {
    const { factoryMs } = this.#options.limits;
    const late = new ExtensionHostError(
      'ACTIVATION_TIMEOUT',
      `its thread did not answer within ${factoryMs / 1000 + 1} s (timed out)`,
    );
    const answer = this.#link.call('openSession', [opening, Comlink.transfer(port, [port])], CommitSchema);
    // The thread keeps the time of the factory; this is for a thread that does not answer at all.
    return withDeadline(answer, factoryMs + 1000, late);
  }

  /** Closes the link when the thread dies. A set, not a promise's reactions: those would stay for the life of the thread. */
  adopt(link: ClosableLink): void {
    if (this.#cause && !this.#alive) link.close(this.#cause);
    else this.#sessionLinks.add(link);
  }

  release(link: ClosableLink): void {
    this.#sessionLinks.delete(link);
  }

  /** Ends the thread: its processes first, while it can still reap them, then the thread itself. Idempotent. */
  async end(cause: ExtensionHostError, graceMs: number): Promise<void> {
    this.#cause ??= cause;
    if (this.#alive && graceMs > 0) {
      await withDeadline(this.#link.call('shutdown', [graceMs], NullSchema), graceMs + 200, cause).catch(() => {});
    }
    this.processes.killAll();
    await this.#worker.terminate();
    this.#die(cause);
  }

  #startWorker(control: MessagePort): Worker {
    const { extension, url, options, agentDir, limits, number, overlapBytes, env } = this.#options;
    const boot: ThreadBoot = { extension, url, options, agentDir, limits, generation: number, overlapBytes, control };
    const worker = new Worker(WORKER_ENTRY, {
      workerData: boot,
      transferList: [control],
      name: `caldera ${extension}`,
      env: { ...env },
      // Never on the host's stdio; what gets past the thread's own capture is drained and dropped.
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: limits.oldGenerationMb },
    });
    worker.stdout.resume();
    worker.stderr.resume();
    worker.on('error', (error) => this.#failed(error));
    worker.on('exit', (code) => this.#exited(code));
    return worker;
  }

  #take(note: ThreadNote): void {
    if (note.type === 'log') this.#options.onNote(note);
    else if (note.state === 'running') this.processes.add(note);
    else this.processes.remove(note.pid);
  }

  #failed(error: unknown): void {
    this.#alive = false;
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    const { extension } = this.#options;
    this.#cause ??=
      code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? new ExtensionHostError('THREAD_MEMORY', `the thread of extension ${extension} ran out of memory`)
        : new ExtensionHostError(
            'THREAD_EXITED',
            `the thread of extension ${extension} ended with an error: ${messageOf(error)}`,
          );
  }

  #exited(code: number): void {
    const { extension } = this.#options;
    this.#die(
      new ExtensionHostError(
        'THREAD_EXITED',
        `the thread of extension ${extension} ended: it exited with code ${code}`,
      ),
    );
  }

  #portClosed(): void {
    this.#alive = false;
    const { extension } = this.#options;
    this.#closeTimer = setTimeout(() => {
      void this.end(new ExtensionHostError('THREAD_EXITED', `extension ${extension} closed the port of its thread`), 0);
    }, EXIT_AFTER_CLOSE_MS);
  }

  #die(fallback: ExtensionHostError): void {
    this.#alive = false;
    clearTimeout(this.#closeTimer);
    const cause = this.#cause ?? fallback;
    this.#cause = cause;
    this.processes.killAll();
    this.#link.close(cause);
    for (const link of this.#sessionLinks) link.close(cause);
    this.#sessionLinks.clear();
    this.#settleDeath(cause);
  }
}

/** What `work` gives, or `late` after `ms`. */
export async function withDeadline<T>(work: Promise<T>, ms: number, late: ExtensionHostError): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(late), ms);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}
