import { expect, test } from 'vitest';
import { methodTable } from '../../src/host/cli/rpc-methods.ts';
import { PARAMS } from '../../src/host/cli/rpc-params.ts';

const BREAKING =
  'Programs in other languages send these. A method or a field that is renamed or removed breaks them: that is a major ' +
  'release. What is added goes into docs and CHANGELOG.md before the pin changes.';

test('the requests of `caldera rpc` are these', () => {
  expect([...methodTable({} as never).keys()].sort(), BREAKING).toEqual([
    'command/run',
    'extension/reload',
    'host/close',
    'host/inspect',
    'session/close',
    'session/open',
    'session/prompt',
    'session/restart',
    'session/tools',
    'tool/call',
    'tool/callBatch',
    'workflow/call',
    'workflow/listCapabilities',
    'workflow/refresh',
    'workflow/run',
  ]);
});

test('their params are these', () => {
  const fields = Object.fromEntries(Object.entries(PARAMS).map(([name, schema]) => [name, Object.keys(schema.shape)]));
  expect(fields, BREAKING).toEqual({
    nothing: [],
    sessionOpen: ['sessionId', 'cwd', 'timeZone', 'activeTools', 'ui', 'sampling'],
    session: ['sessionId'],
    sessionPrompt: ['sessionId', 'prompt'],
    sessionRestart: ['sessionId', 'reason'],
    sessionClose: ['sessionId', 'reason'],
    toolCall: ['sessionId', 'name', 'arguments', 'timeoutMs'],
    toolCallBatch: ['sessionId', 'calls'],
    commandRun: ['sessionId', 'name', 'args'],
    extensionReload: ['path'],
    workflowCall: ['sessionId', 'name', 'input'],
    workflowRefresh: ['connectionId'],
    workflowRun: ['id', 'deployment', 'input', 'runId', 'resume', 'cwd'],
  });
});
