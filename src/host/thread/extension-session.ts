import { MessageChannel } from 'node:worker_threads';
import * as z from 'zod';
import { ExtensionHostError } from '../../shared/errors.ts';
import type { EventName, EventPayload, SessionStartReason } from '../../shared/events.ts';
import {
  type CallRequest,
  type Commit,
  type SessionNote,
  SessionNoteSchema,
  type SessionOpening,
  type SessionRemote,
  type ToolSnapshot,
  ToolTableSchema,
  type WireToolResult,
  WireToolResultSchema,
} from '../../shared/protocol.ts';
import type { CommandInfo } from '../options.ts';
import { withDeadline } from './deadline.ts';
import type { ExtensionThread } from './extension-thread.ts';
import { Link } from './link.ts';
import { isThreadDeath } from './thread-causes.ts';
import type { ThreadGeneration } from './thread-generation.ts';
import type { DescriptorTable } from './tool-table-store.ts';

const TextSchema = z.string();
const PayloadSchema: z.ZodType<EventPayload> = z.record(z.string(), z.unknown());
/** The thread keeps the time of its handlers; this much later it is not answering at all. */
const EMIT_SLACK_MS = 1000;
/** The same where a stop has its time counted. */
const STOP_SLACK_MS = 200;

export interface InstanceCallbacks {
  readonly opening: () => SessionOpening;
  readonly onNote: (instance: ExtensionSession, note: Exclude<SessionNote, { type: 'commit' }>) => void;
  readonly onCommit: (instance: ExtensionSession, commit: Commit) => void;
  readonly onRequest: (
    instance: ExtensionSession,
    generation: ThreadGeneration,
    op: string,
    payload: unknown,
  ) => Promise<unknown>;
}

interface Attachment {
  readonly generation: ThreadGeneration;
  readonly link: Link<SessionRemote, SessionNote>;
}

/**
 * The host's side of one instance: an extension in a session. It lives longer than threads: when its thread has died, the
 * next call activates the instance anew in the next one.
 */
export class ExtensionSession {
  readonly thread: ExtensionThread;
  readonly #callbacks: InstanceCallbacks;
  #attachment: Attachment | undefined;
  #attaching: Promise<Attachment> | undefined;
  #digest: string | undefined;
  #table: DescriptorTable = [];
  #commands: readonly CommandInfo[] = [];
  #events = new Map<EventName, number>();
  #commits: Promise<void> = Promise.resolve();
  #waitingCommit: Commit | undefined;
  #closed: ExtensionHostError | undefined;

  constructor(thread: ExtensionThread, callbacks: InstanceCallbacks) {
    this.thread = thread;
    this.#callbacks = callbacks;
  }

  /** For messages: whose tool it is. */
  get name(): string {
    return `extension ${this.thread.extension.id}`;
  }

  get table(): DescriptorTable {
    return this.#table;
  }

  get commands(): readonly CommandInfo[] {
    return this.#commands;
  }

  listensTo(event: EventName): boolean {
    return this.#events.has(event);
  }

  /** Activates the instance. @throws why it could not be: what the factory threw, its time, or the end of its thread */
  async activate(): Promise<void> {
    try {
      await this.#attach('startup');
    } catch (error) {
      // The thread may have died of what another session did: who comes at the wrong moment has a second try in the next one.
      if (!isThreadDeath(error)) throw error;
      await this.#attach('startup');
    }
  }

  /**
   * Runs a call in a thread that lives. `onSend` is called just before it goes; a late caller can refuse there by throwing.
   * @throws what `onSend` throws
   * Rejects with the end of the thread, PROTOCOL, or why the instance did not come back.
   */
  call(request: CallRequest, onSend: () => void): Promise<WireToolResult> {
    const send = ({ link }: Attachment): Promise<WireToolResult> => {
      onSend();
      return link.call('call', [request], WireToolResultSchema);
    };
    // Mostly there is nothing to wait for, and a promise less for each call.
    const attachment = this.#closed ? undefined : this.#live();
    return attachment ? send(attachment) : this.#attach('recovered').then(send);
  }

  /** Nothing waits for it: a tool that ignores it changes nothing for its caller. */
  cancel(callId: string): void {
    this.#attachment?.link.tell('cancel', [callId]);
  }

  async command(name: string, args: string, timeoutMs: number): Promise<string> {
    const { link } = await this.#attach('recovered');
    const late = new ExtensionHostError('CALL_TIMEOUT', `command ${name} timed out after ${timeoutMs / 1000}s`);
    const done = link.call('command', [name, args], TextSchema);
    // What it changed came before its answer; a failed command may have changed something, too.
    const applied = done.then(
      () => this.#commits,
      () => this.#commits,
    );
    return withDeadline(
      applied.then(() => done),
      timeoutMs,
      late,
    );
  }

  /** Runs the handlers of an event in the thread that has them; without a subscriber nothing crosses. */
  async emit(event: EventName, payload: EventPayload, timeoutMs?: number): Promise<EventPayload | undefined> {
    const announced = this.#events.get(event);
    const attachment = this.#attachment;
    if (announced === undefined || !attachment?.generation.alive) return undefined;
    const bound = timeoutMs === undefined ? announced + EMIT_SLACK_MS : Math.min(announced, timeoutMs) + STOP_SLACK_MS;
    const late = new ExtensionHostError(
      'THREAD_STALLED',
      `extension ${this.thread.extension.id} did not end ${event} within ${bound} ms`,
    );
    return withDeadline(attachment.link.call('emit', [event, payload], PayloadSchema), bound, late);
  }

  tellSnapshot(snapshot: ToolSnapshot): void {
    this.#attachment?.link.tell('snapshot', [snapshot]);
  }

  /** Lets go of the thread; the instance in it is told. Idempotent. */
  close(error: ExtensionHostError): void {
    if (this.#closed) return;
    this.#closed = error;
    this.#detach(error);
    this.#useTable(undefined, []);
  }

  #attach(reason: SessionStartReason): Promise<Attachment> {
    if (this.#closed) return Promise.reject(this.#closed);
    const attachment = this.#live();
    if (attachment) return Promise.resolve(attachment);
    this.#attaching ??= this.#activateIn(reason).finally(() => {
      this.#attaching = undefined;
    });
    return this.#attaching;
  }

  /** The attachment, when its thread is the one that runs. */
  #live(): Attachment | undefined {
    const attachment = this.#attachment;
    return attachment?.generation.alive && attachment.generation === this.thread.current ? attachment : undefined;
  }

  async #activateIn(reason: SessionStartReason): Promise<Attachment> {
    const generation = await this.thread.acquire();
    this.#throwIfClosed();
    this.thread.admit();
    const { port1, port2 } = new MessageChannel();
    const link: Link<SessionRemote, SessionNote> = new Link({
      port: port1,
      meter: generation.meter,
      noteSchema: SessionNoteSchema,
      onNote: (note) => this.#take(link, note),
      onRequest: (op, payload) => this.#callbacks.onRequest(this, generation, op, payload),
      onViolation: (what) => generation.violation(what),
    });
    generation.adopt(link);
    this.#attachment = { generation, link };
    try {
      const commit = await generation.openSession(this.#callbacks.opening(), port2);
      await this.#apply(link, commit);
    } catch (error) {
      generation.release(link);
      link.close(error instanceof ExtensionHostError ? error : new ExtensionHostError('THREAD_EXITED', String(error)));
      throw error;
    }
    this.#throwIfClosed();
    if (reason === 'recovered') await this.emit('session_start', { reason }).catch(() => {});
    return { generation, link };
  }

  /** Read anew after each wait: the session may have been closed meanwhile. */
  #throwIfClosed(): void {
    if (this.#closed) throw this.#closed;
  }

  #detach(error: ExtensionHostError): void {
    if (!this.#attachment) return;
    const { generation, link } = this.#attachment;
    this.#attachment = undefined;
    generation.release(link);
    // The goodbye goes first: a port delivers what was posted before it closed.
    link.tell('close', []);
    link.close(error);
  }

  #take(link: Link<SessionRemote, SessionNote>, note: SessionNote): void {
    if (this.#closed || link !== this.#attachment?.link) return;
    if (note.type !== 'commit') {
      this.#callbacks.onNote(this, note);
      return;
    }
    const waiting = this.#waitingCommit;
    this.#waitingCommit = waiting
      ? { ...note.commit, failures: [...waiting.failures, ...note.commit.failures] }
      : note.commit;
    if (!waiting) this.#commits = this.#commits.then(() => this.#applyLatest(link)).catch(() => {});
  }

  /** One after another: a table that has to be fetched must not be overtaken. Of those that wait, only the latest counts. */
  async #applyLatest(link: Link<SessionRemote, SessionNote>): Promise<void> {
    const commit = this.#waitingCommit;
    this.#waitingCommit = undefined;
    if (commit && link === this.#attachment?.link) await this.#apply(link, commit);
  }

  async #apply(link: Link<SessionRemote, SessionNote>, commit: Commit): Promise<void> {
    const { tables, extension } = this.thread;
    let table = commit.digest === this.#digest ? this.#table : tables.acquire(commit.digest);
    table ??= tables.add(commit.digest, await link.call('table', [commit.digest], ToolTableSchema));
    if (this.#closed) {
      tables.release(commit.digest);
      return;
    }
    this.#useTable(commit.digest, table);
    this.#commands = commit.commands.map(({ name, description }) => ({ name, description, extension: extension.id }));
    this.#events = new Map(commit.events.map(({ event, timeoutMs }) => [event, timeoutMs]));
    this.#callbacks.onCommit(this, commit);
  }

  #useTable(digest: string | undefined, table: DescriptorTable): void {
    if (digest === this.#digest) return;
    if (this.#digest !== undefined) this.thread.tables.release(this.#digest);
    this.#digest = digest;
    this.#table = table;
  }
}
