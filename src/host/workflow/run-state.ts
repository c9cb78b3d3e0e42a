import { type JsonObject, setOwn } from '../../shared/json.ts';
import type { OutcomeName, ToolOutput } from './tool-executor.ts';

/** What is kept of a node's last call. A failed one has no old output left. */
export interface NodeRecord {
  readonly outcome: OutcomeName;
  readonly output?: ToolOutput;
  readonly message?: string;
}

/** One step of a run. Names of arguments only: values may be secrets. */
export interface RunEvent {
  readonly node: string;
  readonly capability: string;
  readonly outcome: OutcomeName;
  /** The process it ran on; empty when there was none. */
  readonly epoch: string;
  readonly ms: number;
  /** The keys that were sent, in order. */
  readonly argumentKeys: readonly string[];
}

/** The state of a run's graph: what a checkpoint holds. Plain data. */
export interface RunState {
  /** What the run was started with. */
  readonly input: JsonObject;
  readonly nodes: Readonly<Record<string, NodeRecord>>;
  /** By connection: the process that the run's state lives in. */
  readonly epochs: Readonly<Record<string, string>>;
  /** The node that ran last. */
  readonly last?: NodeRecord & { readonly node: string };
  readonly trace: readonly RunEvent[];
  /** A digest of the deployment the run was started with. */
  readonly deployment?: string;
}

/** What a node adds to the state. `null` removes a key. */
export interface RunUpdate {
  readonly nodes: Readonly<Record<string, NodeRecord | null>>;
  readonly epochs: Readonly<Record<string, string | null>>;
  readonly last: NodeRecord & { readonly node: string };
  readonly trace: readonly RunEvent[];
}

/** How the state takes updates, for a graph of your own: what goes into LangGraph's `Annotation`, as docs/workflows.md shows. */
export const runChannels = {
  nodes: { reducer: merge<NodeRecord>, default: (): Readonly<Record<string, NodeRecord>> => ({}) },
  epochs: { reducer: merge<string>, default: (): Readonly<Record<string, string>> => ({}) },
  trace: {
    reducer: (before: readonly RunEvent[], more: readonly RunEvent[]): readonly RunEvent[] => [...before, ...more],
    default: (): readonly RunEvent[] => [],
  },
} as const;

function merge<T>(
  before: Readonly<Record<string, T>>,
  update: Readonly<Record<string, T | null>>,
): Readonly<Record<string, T>> {
  const merged = {};
  for (const [key, value] of Object.entries(before)) if (!Object.hasOwn(update, key)) setOwn(merged, key, value);
  for (const [key, value] of Object.entries(update)) if (value !== null) setOwn(merged, key, value);
  return merged;
}
