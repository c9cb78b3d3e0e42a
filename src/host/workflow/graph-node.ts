import type { JsonObject } from '../../shared/json.ts';
import { mappedKeys, type NodeSpec } from './node-spec.ts';
import type { NodeRecord, RunState, RunUpdate } from './run-state.ts';
import { fillTemplates, MissingValueError } from './template.ts';
import type { ToolCallOutcome } from './tool-executor.ts';

/** What a node looks at in the configuration LangGraph hands it. */
export interface GraphNodeConfig {
  readonly signal?: AbortSignal;
  /** Present while the graph is streamed with mode `custom`; it gets each `RunEvent`. */
  readonly writer?: (event: unknown) => void;
  readonly configurable?: Readonly<Record<string, unknown>>;
}

/** A node for LangGraph's `addNode`, over a state with the channels of `RunState`. */
export type GraphNode = (state: Partial<RunState>, config?: GraphNodeConfig) => Promise<RunUpdate>;

export interface GraphNodeOptions {
  /** The node's id in the graph. Default: the capability's name. */
  readonly id?: string;
  /** What is sent; strings may hold templates. Default nothing. */
  readonly input?: JsonObject;
  /**
   * True for the node that makes the state the others act on: it takes whatever process there is, and reached by anything but
   * `ok` it starts over, which forgets the epochs and outputs so far. Default false.
   */
  readonly entry?: boolean;
}

/** Where `configurable` holds the ids of nodes that were under way when an earlier host or run ended; a `Set`, used up. */
export const INTERRUPTED = 'caldera_interrupted';

/** What a node is made of; without a catalogue a spec's tool counts as stateful. */
export type InvocableSpec = Pick<NodeSpec, 'name' | 'connectionId' | 'invoke'> &
  Partial<Pick<NodeSpec, 'stateful' | 'annotations'>>;

/**
 * Makes a LangGraph node of a spec. It holds the epoch of its connection in the state: another process behind the connection
 * is the outcome `state_lost`, with nothing sent, and the graph decides where that leads.
 */
export function toLangGraphNode(
  spec: InvocableSpec,
  { id = spec.name, input = {}, entry = false }: GraphNodeOptions = {},
): GraphNode {
  return async (state, config = {}) => {
    const startedAt = performance.now();
    const held = state.epochs?.[spec.connectionId];
    const mapped = mapInput(input, state);
    const sent = mapped.ok ? mapped.input : {};
    const result =
      (mapped.ok ? afterInterruption(spec, id, entry, held, config) : mapped.error) ??
      (await spec.invoke(sent, {
        ...(config.signal === undefined ? {} : { signal: config.signal }),
        ...(entry || held === undefined ? {} : { expectEpoch: held }),
      }));
    const { outcome, epoch } = result;
    const event = {
      node: id,
      capability: spec.name,
      outcome,
      epoch,
      ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
      argumentKeys: Object.keys(sent),
    };
    config.writer?.(event);
    const record = recordOf(result);
    const startsOver = entry && state.last !== undefined && state.last.outcome !== 'ok';
    const forgotten = startsOver ? state : {};
    return {
      nodes: { ...removed(forgotten.nodes), [id]: record },
      epochs: {
        ...removed(forgotten.epochs),
        // A run that holds no process yet takes the first it meets; its entry always does.
        ...(epoch !== '' && (entry || held === undefined) ? { [spec.connectionId]: epoch } : {}),
      },
      last: { node: id, ...record },
      trace: [event],
    };
  };
}

function mapInput(
  input: JsonObject,
  state: Partial<RunState>,
): { readonly ok: true; readonly input: JsonObject } | { readonly ok: false; readonly error: ToolCallOutcome } {
  try {
    const scope = { input: state.input ?? {}, nodes: state.nodes ?? {} };
    return { ok: true, input: mappedKeys(fillTemplates(input, scope) as JsonObject) };
  } catch (error) {
    if (!(error instanceof MissingValueError)) throw error;
    const message = `The call was not made: ${error.message}.`;
    return { ok: false, error: { outcome: 'error', message, output: { content: message }, epoch: '' } };
  }
}

/**
 * A node that was under way when its host ended may have run, and a call like that is never made twice. What it would have
 * acted on is gone as well when its server is stateful, so that the answer is `state_lost`; the epoch says it where one is held.
 */
function afterInterruption(
  { name, stateful = true, annotations }: InvocableSpec,
  id: string,
  entry: boolean,
  held: string | undefined,
  { configurable }: GraphNodeConfig,
): ToolCallOutcome | undefined {
  const interrupted = configurable?.[INTERRUPTED];
  if (!(interrupted instanceof Set) || !interrupted.delete(id) || entry) return undefined;
  if (stateful) {
    if (held !== undefined) return undefined;
    return {
      outcome: 'state_lost',
      message: `${name} was not called: the run was interrupted, and its state is lost`,
      epoch: '',
    };
  }
  if (annotations?.readOnlyHint === true || annotations?.idempotentHint === true) return undefined;
  const message = `${name} was not called again: the run was interrupted while it was under way, and it may have run`;
  return { outcome: 'error', message, output: { content: message }, epoch: '' };
}

function recordOf(result: ToolCallOutcome): NodeRecord {
  const { outcome } = result;
  return {
    outcome,
    ...('output' in result ? { output: result.output } : {}),
    ...('message' in result ? { message: result.message } : {}),
  };
}

function removed(record: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, null>> {
  return Object.fromEntries(Object.keys(record).map((key) => [key, null]));
}
