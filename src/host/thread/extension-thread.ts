import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ExtensionHostError } from '../../shared/errors.ts';
import type { JsonObject } from '../../shared/json.ts';
import type { Limits } from '../../shared/limits.ts';
import type { ThreadNote } from '../../shared/protocol.ts';
import {
  addUse,
  NO_USE,
  type Permissions,
  type PermissionUse,
  type SandboxBoot,
  type Tier,
} from '../../shared/sandbox.ts';
import type { ExtensionState } from '../options.ts';
import type { ProcessGuard } from './process-guard.ts';
import { ThreadGeneration } from './thread-generation.ts';
import { ToolTableStore } from './tool-table-store.ts';
import type { Watchdog } from './watchdog.ts';

/** An extension, resolved to its entry. */
export interface ResolvedExtension {
  readonly id: string;
  /** What the operator named; for people. */
  readonly path: string;
  /** `file:` URL of the entry. */
  readonly url: string;
  readonly options: JsonObject;
  /** Host variables it may read. */
  readonly env: readonly string[];
  readonly tier: Tier;
  /** What its manifest asks for; of an extension that nobody vouched for. */
  readonly requested?: Permissions;
  /** How a sandboxed one is held. */
  readonly sandbox?: Omit<SandboxBoot, 'storageFile' | 'memoryKb'> & { readonly storageName: string };
}

export interface ThreadServices {
  readonly limits: Limits;
  readonly agentDir: string;
  readonly overlapBytes: () => number;
  readonly settings: () => JsonObject;
  readonly environment: (threadMark: string) => Readonly<Record<string, string>>;
  readonly threadMark: (extension: string, generation: number) => string;
  readonly watchdog: Watchdog;
  readonly guard: ProcessGuard;
  readonly onLog: (extension: string, note: Extract<ThreadNote, { type: 'log' }>) => void;
  /** A host request on a control port: it belongs to no session. */
  readonly onRequest: (
    thread: ExtensionThread,
    generation: ThreadGeneration,
    op: string,
    payload: unknown,
  ) => Promise<unknown>;
  readonly onDeath: (thread: ExtensionThread, generation: ThreadGeneration) => void;
  readonly onState: (thread: ExtensionThread, reason: string | undefined) => void;
  readonly redactTable: (value: unknown) => unknown;
  /** @throws HOST_BUSY when the sandboxed machines of the host hold all the memory they may */
  readonly admitSandbox: () => void;
}

/**
 * One extension and its thread, across the thread's lives. A dead thread comes back with the next call that needs it, with
 * a back-off; deaths that follow one another too fast end that until `reload`.
 */
export class ExtensionThread {
  readonly tables: ToolTableStore;
  readonly #services: ThreadServices;
  readonly #ending = new AbortController();
  #extension: ResolvedExtension;
  #pastUse = NO_USE;
  #use = NO_USE;
  #state: ExtensionState = 'loading';
  #reason: ExtensionHostError | undefined;
  #generation: ThreadGeneration | undefined;
  #starting: Promise<ThreadGeneration> | undefined;
  #count = 0;
  #deaths: number[] = [];

  constructor(extension: ResolvedExtension, services: ThreadServices) {
    this.#extension = extension;
    this.#services = services;
    this.tables = new ToolTableStore(extension.id, services.redactTable);
  }

  /** As it was resolved; a reload can resolve it anew. */
  get extension(): ResolvedExtension {
    return this.#extension;
  }

  /** How often it used and was refused which permission, over all its lives. */
  get permissionUse(): PermissionUse {
    return addUse(this.#pastUse, this.#use);
  }

  get state(): ExtensionState {
    return this.#state;
  }

  /** Why it is not running. */
  get reason(): ExtensionHostError | undefined {
    return this.#reason;
  }

  get generation(): number {
    return this.#count;
  }

  /** The life that runs now, if any. */
  get current(): ThreadGeneration | undefined {
    return this.#generation;
  }

  /**
   * A thread that runs; starts one when the last has died, after its back-off.
   * @throws CRASH_LOOPING, EXTENSION_LOAD_FAILED, HOST_CLOSED
   */
  acquire(): Promise<ThreadGeneration> {
    if (this.#generation?.alive && this.#state === 'running') return Promise.resolve(this.#generation);
    if (this.#state === 'closed' || this.#state === 'failed' || this.#state === 'crash-looping')
      return Promise.reject(this.#refusal());
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** The operator's settings are others; a thread that starts meanwhile gets them at its start. */
  async tellSettings(settings: JsonObject): Promise<void> {
    // A sandboxed extension is told none of them.
    if (!this.#extension.sandbox) await this.#generation?.tellSettings(settings);
  }

  /** A new thread, whatever became of the old one; deaths so far are forgotten. */
  async reload(extension: ResolvedExtension = this.#extension): Promise<void> {
    if (this.#state === 'closed') throw this.#refusal();
    await this.#starting?.catch(() => {});
    const old = this.#generation;
    this.#deaths = [];
    this.#extension = extension;
    this.#setState('loading');
    await old?.end(new ExtensionHostError('THREAD_EXITED', `extension ${this.extension.id} was reloaded`), 1000);
    await this.acquire();
  }

  /** Called before another instance begins. @throws HOST_BUSY */
  admit(): void {
    if (this.#extension.sandbox) this.#services.admitSandbox();
  }

  async close(graceMs: number): Promise<void> {
    if (this.#state === 'closed') return;
    const closed = new ExtensionHostError('HOST_CLOSED', 'the host is closed');
    this.#reason = closed;
    this.#setState('closed');
    this.#ending.abort();
    await this.#generation?.end(closed, graceMs);
    await this.#starting?.catch(() => {});
  }

  async #start(): Promise<ThreadGeneration> {
    // A thread that shows the first sign of its end may still have its cause to tell; and what it has started must not meet
    // what the next one starts: a browser's profile takes one browser.
    if (this.#generation) await this.#generation.gone;
    if (this.#state === 'crash-looping') throw this.#refusal();
    await this.#backOff();
    if (this.#isClosed()) throw this.#refusal();
    this.#setState(this.#count === 0 || this.#state === 'loading' ? 'loading' : 'restarting');
    const generation = this.#createGeneration();
    this.#generation = generation;
    try {
      await generation.load();
    } catch (error) {
      await this.#loadFailed(generation, error);
      throw this.#refusal();
    }
    if (this.#isClosed()) {
      await generation.end(this.#refusal(), 0);
      throw this.#refusal();
    }
    this.#setState('running');
    return generation;
  }

  #createGeneration(): ThreadGeneration {
    const { id, url, options } = this.extension;
    const { limits, agentDir, overlapBytes, settings, watchdog, guard, onLog, onRequest } = this.#services;
    this.#count += 1;
    const mark = this.#services.threadMark(id, this.#count);
    const generation: ThreadGeneration = new ThreadGeneration({
      extension: id,
      url,
      options,
      settings: this.#extension.sandbox ? {} : settings(),
      agentDir,
      limits,
      number: this.#count,
      overlapBytes: overlapBytes(),
      env: this.#services.environment(mark),
      mark,
      watchdog,
      guard,
      sandbox: this.#sandboxBoot(),
      onLog: (note) => onLog(id, note),
      onPermissionUse: (use) => {
        this.#use = use;
      },
      onRequest: (op, payload) => onRequest(this, generation, op, payload),
    });
    void generation.died.then((cause) => this.#died(generation, cause));
    return generation;
  }

  #sandboxBoot(): SandboxBoot | undefined {
    this.#pastUse = addUse(this.#pastUse, this.#use);
    this.#use = NO_USE;
    const { sandbox } = this.#extension;
    if (!sandbox) return undefined;
    const { storageName, ...boot } = sandbox;
    const storageFile = path.join(this.#services.agentDir, 'extension-storage', storageName);
    return { ...boot, storageFile, memoryKb: new SharedArrayBuffer(4) };
  }

  #died(generation: ThreadGeneration, cause: ExtensionHostError): void {
    this.#services.onDeath(this, generation);
    if (generation !== this.#generation || this.#state !== 'running') return;
    const { crashLoopWindowMs, crashLoopDeaths } = this.#services.limits;
    const now = Date.now();
    this.#deaths = [...this.#deaths.filter((at) => now - at < crashLoopWindowMs), now];
    this.#reason = cause;
    this.#setState(this.#deaths.length >= crashLoopDeaths ? 'crash-looping' : 'restarting');
  }

  async #loadFailed(generation: ThreadGeneration, error: unknown): Promise<void> {
    const given = error instanceof ExtensionHostError ? error : undefined;
    const reason = new ExtensionHostError(
      'EXTENSION_LOAD_FAILED',
      given?.code === 'EXTENSION_LOAD_FAILED'
        ? given.message
        : `extension ${this.extension.id} could not be loaded: ${given?.message ?? String(error)}`,
      { cause: error },
    );
    await generation.end(reason, 0);
    if (this.#isClosed()) return;
    this.#reason = reason;
    this.#setState('failed');
  }

  /** Waits as long as the deaths so far ask for; the end of the host ends it. */
  async #backOff(): Promise<void> {
    const { restartBackoffMs } = this.#services.limits;
    const ms =
      this.#deaths.length === 0
        ? 0
        : (restartBackoffMs[Math.min(this.#deaths.length, restartBackoffMs.length) - 1] ?? 0);
    if (ms === 0 || this.#isClosed()) return;
    await delay(ms, undefined, { signal: this.#ending.signal }).catch(() => {});
  }

  #isClosed(): boolean {
    return this.#state === 'closed';
  }

  #refusal(): ExtensionHostError {
    const { id } = this.extension;
    if (this.#state === 'crash-looping') {
      return new ExtensionHostError(
        'CRASH_LOOPING',
        `extension ${id} ended ${this.#deaths.length} times in a row and is not started again until it is reloaded; the last time: ${this.#reason?.message ?? 'unknown'}`,
        { cause: this.#reason },
      );
    }
    return this.#reason ?? new ExtensionHostError('THREAD_EXITED', `extension ${id} is not running`);
  }

  #setState(state: ExtensionState): void {
    if (this.#state === 'closed' || (this.#state === state && this.#count > 0 && state !== 'loading')) return;
    this.#state = state;
    if (state === 'running') this.#reason = undefined;
    this.#services.onState(this, state === 'running' || state === 'loading' ? undefined : this.#reason?.message);
  }
}
