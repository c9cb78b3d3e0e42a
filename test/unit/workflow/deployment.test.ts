import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nextOf, parseDeployment } from '../../../src/host/workflow/deployment.ts';
import { problemsAgainst } from '../../../src/host/workflow/deployment-fit.ts';
import { readDeployment } from '../../../src/host/workflow/index.ts';
import { CLICK_ONCE } from '../../support/page-server.ts';
import { makeWorkspace } from '../../support/workspace.ts';

function problemsOf(value: unknown): readonly string[] {
  try {
    parseDeployment(structuredClone(value));
    return [];
  } catch (error) {
    return (error as { data: { problems: readonly string[] } }).data.problems;
  }
}

describe('a deployment', () => {
  test('that is right is read as it is', () => {
    expect(parseDeployment(structuredClone(CLICK_ONCE))).toEqual(CLICK_ONCE);
  });

  test('has an empty input and no edges unless it says so', () => {
    const { nodes } = parseDeployment({
      id: 'a',
      connections: ['c'],
      entry: 'n',
      nodes: [{ id: 'n', capability: 'c.t' }],
    });
    expect(nodes).toEqual([{ id: 'n', capability: 'c.t', input: {}, next: {} }]);
  });

  test('with many mistakes has all of them listed, each with its place', () => {
    const wrong = {
      id: 'no spaces please',
      connection: ['page'],
      connections: ['page', 'unused'],
      entry: 'opn',
      nodes: [
        {
          id: 'open',
          capability: 'page.navigate',
          input: { url: '${inputs.url}' },
          next: { okay: 'click', ok: 'clik' },
        },
        { id: 'open', capability: 'other.click', input: [], next: { ok: 1 } },
        { id: 'trace', capability: 'page', input: { a: '${nodes.nowhere.output}', b: '${nodes.open.text}' } },
        7,
      ],
    };
    expect(problemsOf(wrong)).toEqual([
      'connection: unknown key; did you mean "connections"?',
      'id: must be letters, digits, ".", "_" and "-", at most 100',
      'nodes[0].next.okay: no such outcome; did you mean "ok"?',
      'nodes[1].capability: must be "<connection>.<tool>" with a connection that "connections" lists',
      'nodes[1].input: must be an object such as { "url": "${input.url}" }, not a list',
      "nodes[1].next.ok: must be a node's id, not a number",
      "nodes[2].id: trace names a part of the run's state; take another",
      'nodes[2].capability: must be "<connection>.<tool>" with a connection that "connections" lists',
      'nodes[3]: must be an object, not a number',
      'entry: there is no node "opn"; did you mean "open"?',
      'nodes[0].next.ok: there is no node "clik"; did you mean "open"?',
      'nodes[0].input: ${inputs.url}: must be a path such as input.url or nodes.snap1.output.content; write $${ for a literal ${',
      'nodes[1].id: "open" is there twice',
      'nodes[2].input: ${nodes.nowhere.output}: there is no node "nowhere"; did you mean "open"?',
      'nodes[2].input: ${nodes.open.text}: a node has output, message and outcome, not "text"',
      'connections[1]: no node uses "unused"',
    ]);
  });

  test('has no node that a run can never come to', () => {
    const [open, ...others] = CLICK_ONCE.nodes;
    const alone = { ...CLICK_ONCE, nodes: [{ ...open, next: {} }, ...others] };
    expect(problemsOf(alone)).toEqual([
      'nodes[1]: "before" cannot be reached from the entry',
      'nodes[2]: "click" cannot be reached from the entry',
      'nodes[3]: "after" cannot be reached from the entry',
    ]);
  });

  test.each([[null], [[]], ['text'], [undefined], [{}]])('cannot be %j', (value) => {
    expect(problemsOf(value).length).toBeGreaterThan(0);
  });

  test('leads a timeout and a death where an error leads, unless they have a way of their own', () => {
    const node = { id: 'n', capability: 'c.t', input: {} };
    expect(nextOf({ ...node, next: { error: 'e' } }, 'timeout')).toBe('e');
    expect(nextOf({ ...node, next: { error: 'e', server_exited: 's' } }, 'server_exited')).toBe('s');
    expect(nextOf({ ...node, next: { error: 'e' } }, 'state_lost')).toBeUndefined();
    expect(nextOf({ ...node, next: { error: 'e' } }, 'ok')).toBeUndefined();
  });

  test('may name connections with dots: the longest one that fits has the capability', () => {
    const deployment = {
      id: 'dots',
      connections: ['playwright', 'playwright.work'],
      entry: 'a',
      nodes: [
        { id: 'a', capability: 'playwright.work.browser_navigate', next: { ok: 'b' } },
        { id: 'b', capability: 'playwright.browser_snapshot' },
      ],
    };
    expect(problemsOf(deployment)).toEqual([]);
  });
});

describe('a deployment on a session', () => {
  const capability = {
    name: 'page.click',
    connectionId: 'page',
    tool: 'click',
    description: '',
    inputSchema: { type: 'object', properties: { target: {} }, required: ['target'], additionalProperties: false },
    stateful: true,
  };
  const node = { id: 'n', capability: 'page.click', input: {}, next: {} };
  const deployment = { id: 'd', connections: ['page'], entry: 'n', nodes: [node] };

  test('needs what its tools require, and may map nothing that they refuse', () => {
    const mapped = { ...deployment, nodes: [{ ...node, input: { taget: 'x' } }] };
    expect(problemsAgainst(mapped, [capability])).toEqual([
      'nodes[0].input: target is required and not mapped',
      'nodes[0].input: the tool takes no taget; did you mean "target"?',
    ]);
  });

  test('is told once why a connection offers nothing', () => {
    const failure = { extension: 'mcp', server: 'page', code: 'SERVER_START_FAILED' as const, message: 'it is broken' };
    expect(problemsAgainst(deployment, [], [failure])).toEqual(['connections[0]: page offers nothing: it is broken']);
    expect(problemsAgainst(deployment, [{ ...capability, connectionId: 'web', name: 'web.click' }])).toEqual([
      'connections[0]: there is no connection page; there are: web',
    ]);
  });
});

describe('a deployment file', () => {
  test('is found by id in its folder, and by path anywhere; comments are allowed', () => {
    const folder = makeWorkspace('deployments');
    const file = join(folder, 'click-once.json');
    writeFileSync(file, `// what it is for\n${JSON.stringify(CLICK_ONCE)}`);
    expect(readDeployment('click-once', folder)).toEqual(CLICK_ONCE);
    expect(readDeployment('click-once.json', folder)).toEqual(CLICK_ONCE);
    expect(readDeployment(file, '/nowhere')).toEqual(CLICK_ONCE);
  });

  test('that is not there is a wrong argument, which names the file', () => {
    const folder = makeWorkspace('deployments');
    expect(() => readDeployment('nothing', folder)).toThrow(join(folder, 'nothing.json'));
  });

  test('with mistakes lists each with its line', () => {
    const file = join(makeWorkspace('deployments'), 'bad.json');
    writeFileSync(
      file,
      '{\n "id": "bad",\n "connections": ["c"],\n "entry": "m",\n "nodes": [\n  { "id": "n", "capability": "t" }\n ]\n}',
    );
    const place = (line: number, text: string) => `${file}:${line}: ${text}`;
    let thrown: unknown;
    try {
      readDeployment(file, '');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code: 'CONFIG_INVALID',
      data: {
        problems: [
          place(6, 'nodes[0].capability: must be "<connection>.<tool>" with a connection that "connections" lists'),
          place(4, 'entry: there is no node "m"; did you mean "n"?'),
          place(3, 'connections[0]: no node uses "c"'),
        ],
      },
    });
  });
});
