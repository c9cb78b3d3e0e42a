import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BaseCheckpointSaver, Checkpoint, CheckpointMetadata, CheckpointTuple } from '@langchain/langgraph';
import { isRecord } from '../../shared/json.ts';
import type { CheckpointSaver } from './checkpoint-saver.ts';
import { loadLangGraph } from './engine.ts';

type Config = Parameters<BaseCheckpointSaver['getTuple']>[0];
type ListOptions = Parameters<BaseCheckpointSaver['list']>[1];
type Writes = Parameters<BaseCheckpointSaver['putWrites']>[1];

/** One line of a run's file: a call of the saver, to be made again when the file is read. */
type Line =
  | { readonly op: 'thread'; readonly id: string }
  | { readonly op: 'put'; readonly at: Config; readonly checkpoint: Packed; readonly metadata: Packed }
  | {
      readonly op: 'writes';
      readonly at: Config;
      readonly task: string;
      readonly path?: string;
      readonly writes: readonly (readonly [string, Packed])[];
    };

/** The serialiser's type name and its bytes in base64. */
type Packed = readonly [string, string];

/**
 * A checkpoint saver that appends to one file a run, `<folder>/<digest of the id>.jsonl`, readable by its owner only. Plain
 * JavaScript, no native build. It survives the death of the process; a line that was cut by it is left out. One process at a
 * time may use a run's file. Loads `@langchain/langgraph`, an optional peer.
 * @throws CONFIG_INVALID when LangGraph is not installed
 */
export async function createFileSaver(folder: string): Promise<CheckpointSaver> {
  const { BaseCheckpointSaver: Base, MemorySaver } = await loadLangGraph();

  class FileSaver extends Base {
    /** What the files say; LangGraph's own saver does the looking up. */
    readonly #memory = new MemorySaver(this.serde);
    readonly #loaded = new Map<string, Promise<void>>();
    /** Runs without a file; the first line makes it. */
    readonly #fresh = new Set<string>();
    /** Lines of a run are written one after the other. */
    readonly #written = new Map<string, Promise<void>>();

    override async getTuple(config: Config): Promise<CheckpointTuple | undefined> {
      await this.#load(threadOf(config));
      return this.#memory.getTuple(config);
    }

    override async *list(config: Config, options?: ListOptions): AsyncGenerator<CheckpointTuple> {
      await this.#load(threadOf(config));
      yield* this.#memory.list(config, options);
    }

    override async put(config: Config, checkpoint: Checkpoint, metadata: CheckpointMetadata): Promise<Config> {
      const thread = threadOf(config);
      await this.#load(thread);
      const next = await this.#memory.put(config, checkpoint, metadata);
      await this.#append(thread, {
        op: 'put',
        at: placeOf(config),
        checkpoint: await this.#pack(checkpoint),
        metadata: await this.#pack(metadata),
      });
      return next;
    }

    override async putWrites(config: Config, writes: Writes, taskId: string, taskPath?: string): Promise<void> {
      const thread = threadOf(config);
      await this.#load(thread);
      await this.#memory.putWrites(config, writes, taskId, ...(taskPath === undefined ? [] : [taskPath]));
      const packed = await Promise.all(
        writes.map(async ([channel, value]) => [channel, await this.#pack(value)] as const),
      );
      const path = taskPath === undefined ? {} : { path: taskPath };
      await this.#append(thread, { op: 'writes', at: placeOf(config), task: taskId, ...path, writes: packed });
    }

    override async deleteThread(threadId: string): Promise<void> {
      await this.#written.get(threadId);
      await this.#memory.deleteThread(threadId);
      await rm(fileOf(folder, threadId), { force: true });
      // A later run of that id has a new file to begin.
      this.#loaded.delete(threadId);
      this.#fresh.delete(threadId);
    }

    #load(thread: string): Promise<void> {
      const loading = this.#loaded.get(thread) ?? this.#read(thread);
      this.#loaded.set(thread, loading);
      return loading;
    }

    async #read(thread: string): Promise<void> {
      let text: string;
      try {
        text = await readFile(fileOf(folder, thread), 'utf8');
      } catch (error) {
        if (!isRecord(error) || error['code'] !== 'ENOENT') throw error;
        this.#fresh.add(thread);
        return;
      }
      for (const line of text.split('\n')) {
        const read = lineOf(line);
        if (read !== undefined) await this.#replay(read);
      }
      // What follows a cut line must not be glued to it.
      if (!text.endsWith('\n')) await appendFile(fileOf(folder, thread), '\n');
    }

    async #replay(line: Line): Promise<void> {
      if (line.op === 'put') {
        const checkpoint = (await this.#unpack(line.checkpoint)) as Checkpoint;
        await this.#memory.put(line.at, checkpoint, (await this.#unpack(line.metadata)) as CheckpointMetadata);
      } else if (line.op === 'writes') {
        const writes = await Promise.all(
          line.writes.map(async ([channel, value]): Promise<Writes[number]> => [channel, await this.#unpack(value)]),
        );
        const path = line.path === undefined ? [] : [line.path];
        await this.#memory.putWrites(line.at, writes, line.task, ...path);
      }
    }

    #append(thread: string, line: Line): Promise<void> {
      const before = this.#written.get(thread) ?? Promise.resolve();
      const written = before.then(() => this.#write(thread, line));
      const settled = written.catch(() => {});
      this.#written.set(thread, settled);
      void settled.then(() => {
        if (this.#written.get(thread) === settled) this.#written.delete(thread);
      });
      return written;
    }

    async #write(thread: string, line: Line): Promise<void> {
      const lines = [line];
      if (this.#fresh.delete(thread)) {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        lines.unshift({ op: 'thread', id: thread });
      }
      const text = lines.map((one) => `${JSON.stringify(one)}\n`).join('');
      await appendFile(fileOf(folder, thread), text, { mode: 0o600 });
    }

    async #pack(value: unknown): Promise<Packed> {
      const [type, bytes] = await this.serde.dumpsTyped(value);
      return [type, Buffer.from(bytes).toString('base64')];
    }

    #unpack([type, bytes]: Packed): Promise<unknown> {
      return this.serde.loadsTyped(type, Buffer.from(bytes, 'base64'));
    }
  }

  return new FileSaver();
}

function threadOf({ configurable }: Config): string {
  const thread: unknown = configurable?.['thread_id'];
  if (typeof thread === 'string' && thread !== '') return thread;
  throw new Error('a checkpoint needs configurable.thread_id');
}

/** Only what names the place: the rest of a configuration holds functions and signals. */
function placeOf({ configurable = {} }: Config): Config {
  const { thread_id, checkpoint_ns, checkpoint_id } = configurable as Readonly<Record<string, unknown>>;
  return { configurable: { thread_id, checkpoint_ns, ...(checkpoint_id === undefined ? {} : { checkpoint_id }) } };
}

function lineOf(text: string): Line | undefined {
  if (text === '') return undefined;
  try {
    const line: unknown = JSON.parse(text);
    return isRecord(line) && typeof line['op'] === 'string' ? (line as Line) : undefined;
  } catch {
    return undefined; // cut by the death of the process
  }
}

/** A digest, since an id may hold anything and some file systems do not tell `a` from `A`. */
function fileOf(folder: string, thread: string): string {
  return join(folder, `${createHash('sha256').update(thread).digest('hex').slice(0, 32)}.jsonl`);
}
