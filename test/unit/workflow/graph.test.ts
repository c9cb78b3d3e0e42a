import { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import { INTERRUPTED } from '../../../src/host/workflow/graph-node.ts';
import {
  buildGraph,
  type RunState,
  runChannels,
  type ToolCallOptions,
  type ToolCallOutcome,
  type ToolExecutor,
  toLangGraphNode,
} from '../../../src/host/workflow/index.ts';
import type { JsonObject } from '../../../src/shared/json.ts';
import { CLICK_ONCE } from '../../support/page-server.ts';

type Answer = (tool: string, payload: JsonObject, options: ToolCallOptions) => ToolCallOutcome;

/** An executor that keeps what it was asked: `click {"target":"e2"} expecting n-1`. */
function scripted(answer: Answer): { readonly executor: ToolExecutor; readonly asked: string[] } {
  const asked: string[] = [];
  const executor: ToolExecutor = {
    callTool(connectionId, tool, payload, options = {}) {
      asked.push(`${connectionId}.${tool} ${JSON.stringify(payload)} expecting ${options.expectEpoch ?? 'nothing'}`);
      return Promise.resolve(answer(tool, payload, options));
    },
  };
  return { executor, asked };
}

const ok = (epoch: string, structured: JsonObject = { ref: 'e2' }): ToolCallOutcome => ({
  outcome: 'ok',
  output: { content: 'said', structured },
  epoch,
});
const lost = (epoch: string): ToolCallOutcome => ({ outcome: 'state_lost', message: 'gone', epoch });
const steps = ({ trace }: RunState) => trace.map(({ node, outcome }) => `${node} ${outcome}`);

/** A server that was restarted before the nth call: any expectation of another epoch is lost. */
function restartedBefore(n: number): Answer {
  let calls = 0;
  return (_tool, _payload, { expectEpoch }) => {
    calls += 1;
    const epoch = calls >= n ? 'n-2' : 'n-1';
    return expectEpoch !== undefined && expectEpoch !== epoch ? lost(epoch) : ok(epoch);
  };
}

describe('a graph of a deployment', () => {
  test('expects at each step the process that its entry met', async () => {
    const { executor, asked } = scripted(() => ok('n-1'));
    const graph = await buildGraph(CLICK_ONCE, executor);
    const state = await graph.invoke({ input: { url: 'u' } });
    expect(asked).toEqual([
      'page.navigate {"url":"u"} expecting nothing',
      'page.snapshot {} expecting n-1',
      'page.click {"target":"e2"} expecting n-1',
      'page.snapshot {} expecting n-1',
    ]);
    expect(state.epochs).toEqual({ page: 'n-1' });
    expect(state.trace[2]).toEqual({
      node: 'click',
      capability: 'page.click',
      outcome: 'ok',
      epoch: 'n-1',
      ms: expect.any(Number),
      argumentKeys: ['target'],
    });
  });

  test('goes back to its entry when another process answers, and takes up its epoch there', async () => {
    const { executor } = scripted(restartedBefore(3));
    const state = await (await buildGraph(CLICK_ONCE, executor)).invoke({ input: { url: 'u' } });
    expect(steps(state)).toEqual([
      'open ok',
      'before ok',
      'click state_lost',
      'open ok',
      'before ok',
      'click ok',
      'after ok',
    ]);
    expect(state.epochs).toEqual({ page: 'n-2' });
  });

  test('that starts over forgets the epochs of every connection, so that the second one does not lose state for ever', async () => {
    const deployment = {
      id: 'two',
      connections: ['a', 'b'],
      entry: 'open',
      nodes: [
        { id: 'open', capability: 'a.open', input: {}, next: { ok: 'use' } },
        { id: 'use', capability: 'b.use', input: {}, next: { ok: 'again', state_lost: 'open' } },
        { id: 'again', capability: 'b.use', input: {}, next: { state_lost: 'open' } },
      ],
    };
    let uses = 0;
    const { executor } = scripted((tool, _payload, { expectEpoch }) => {
      if (tool === 'open') return ok('n-1');
      uses += 1;
      const epoch = uses === 1 ? 'n-2' : 'n-3';
      return expectEpoch !== undefined && expectEpoch !== epoch ? lost(epoch) : ok(epoch);
    });
    const state = await (await buildGraph(deployment, executor)).invoke({ input: {} });
    expect(steps(state)).toEqual(['open ok', 'use ok', 'again state_lost', 'open ok', 'use ok', 'again ok']);
    expect(state.epochs).toEqual({ a: 'n-1', b: 'n-3' });
  });

  test('that goes round with ok keeps what other connections hold', async () => {
    const deployment = {
      id: 'round',
      connections: ['a', 'b'],
      entry: 'open',
      nodes: [
        { id: 'open', capability: 'a.open', input: {}, next: { ok: 'use' } },
        { id: 'use', capability: 'b.use', input: {}, next: { ok: 'open' } },
      ],
    };
    const { executor, asked } = scripted((_tool, _payload, { expectEpoch }) =>
      asked.length > 3 && expectEpoch !== undefined ? lost('n-9') : ok('n-1'),
    );
    await (await buildGraph(deployment, executor)).invoke({ input: {} });
    expect(asked).toEqual([
      'a.open {} expecting nothing',
      'b.use {} expecting nothing',
      'a.open {} expecting nothing',
      'b.use {} expecting n-1',
    ]);
  });

  test('makes no call with a template that names nothing', async () => {
    const { executor, asked } = scripted(() => ok('n-1', {}));
    const state = await (await buildGraph(CLICK_ONCE, executor)).invoke({ input: { url: 'u' } });
    expect(state.last).toMatchObject({
      node: 'click',
      outcome: 'error',
      message: 'The call was not made: ${nodes.before.output.structured.ref} is not there.',
    });
    expect(asked).toHaveLength(2);
  });
});

describe('a node that was under way when its host ended', () => {
  const run = async (spec: object, held: string | undefined) => {
    const { executor, asked } = scripted(() => ok('n-2'));
    const invoke = () => executor.callTool('c', 't', {});
    const node = toLangGraphNode({ name: 'c.t', connectionId: 'c', invoke, ...spec }, { id: 'n' });
    const configurable = { [INTERRUPTED]: new Set(['n']) };
    const state = { epochs: held === undefined ? {} : { c: held } };
    const first = await node(state, { configurable });
    const second = await node(state, { configurable });
    return { outcomes: [first.last.outcome, second.last.outcome], asked };
  };

  test('is not called again when it may have run', async () => {
    expect(await run({ stateful: false }, undefined)).toMatchObject({
      outcomes: ['error', 'ok'],
      asked: { length: 1 },
    });
  });

  test.each(['readOnlyHint', 'idempotentHint'])('is called again when its author says %s', async (hint) => {
    expect((await run({ stateful: false, annotations: { [hint]: true } }, undefined)).outcomes).toEqual(['ok', 'ok']);
  });

  test('has lost its state when its server keeps some and the run held none of its processes', async () => {
    expect(await run({ stateful: true }, undefined)).toMatchObject({
      outcomes: ['state_lost', 'ok'],
      asked: { length: 1 },
    });
  });
});

describe('a graph of your own', () => {
  // WF-T2-PROTOCOL, WF-NG-GRAPH
  test('takes the nodes and channels, LangGraph’s savers and streams', async () => {
    const { executor } = scripted(() => ok('n-1'));
    const State = Annotation.Root({
      input: Annotation<JsonObject>(),
      last: Annotation<RunState['last']>(),
      nodes: Annotation(runChannels.nodes),
      epochs: Annotation(runChannels.epochs),
      trace: Annotation(runChannels.trace),
    });
    const spec = {
      name: 'page.navigate',
      connectionId: 'page',
      invoke: (input: Readonly<Record<string, unknown>>) => executor.callTool('page', 'navigate', input as JsonObject),
    };
    const graph = new StateGraph(State)
      .addNode('go', toLangGraphNode(spec, { id: 'go', input: { url: '${input.url}' }, entry: true }))
      .addEdge(START, 'go')
      .addEdge('go', END)
      .compile({ checkpointer: new MemorySaver() });
    const events: unknown[] = [];
    const config = { configurable: { thread_id: 'mine' }, streamMode: 'custom' as const };
    for await (const event of await graph.stream({ input: { url: 'u' } }, config)) events.push(event);
    expect(events).toMatchObject([{ node: 'go', outcome: 'ok', argumentKeys: ['url'] }]);
    expect((await graph.getState(config)).values).toMatchObject({
      nodes: { go: { outcome: 'ok' } },
      epochs: { page: 'n-1' },
    });
  });
});
