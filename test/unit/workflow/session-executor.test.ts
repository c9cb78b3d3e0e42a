import { describe, expect, test } from 'vitest';
import type { CallOptions } from '../../../src/host/options.ts';
import { catalogOf } from '../../../src/host/workflow/capability.ts';
import { nodeSpecs } from '../../../src/host/workflow/index.ts';
import { SessionExecutor } from '../../../src/host/workflow/session-executor.ts';
import { errorResult, type ToolCall, type ToolDescriptor, type ToolResult } from '../../../src/shared/tool.ts';

const click: ToolDescriptor = {
  name: 'web_click',
  description: 'Clicks.',
  parameters: { type: 'object' },
  executionMode: 'sequential',
  annotations: { title: 'Click' },
  source: { kind: 'extension', extension: 'mcp', server: 'page', tool: 'click' },
};
const search: ToolDescriptor = {
  ...click,
  name: 'search',
  executionMode: 'parallel',
  source: { kind: 'extension', extension: 'mcp', server: 'web', tool: 'search' },
};
const clock: ToolDescriptor = {
  name: 'clock',
  description: '',
  parameters: { type: 'object' },
  executionMode: 'parallel',
  source: { kind: 'built-in', extension: 'host' },
};

/** A session that answers every call alike and keeps what it was asked. */
function answering(result: ToolResult) {
  const calls: { readonly call: ToolCall; readonly options: CallOptions | undefined }[] = [];
  const session = {
    tools: [click, search, clock],
    callTool: (call: ToolCall, options?: CallOptions) => {
      calls.push({ call, options });
      return Promise.resolve(structuredClone(result));
    },
  };
  return { calls, executor: new SessionExecutor(session) };
}

const details = { server: 'page', tool: 'click', outcome: 'done' as const, truncated: false, images: 0, epoch: 'n-1' };

describe('the catalogue', () => {
  test('names capabilities by connection and by the name at the server; what keeps state says so', () => {
    const short = catalogOf([click, search, clock]).map(({ name, connectionId, tool, stateful }) => [
      name,
      connectionId,
      tool,
      stateful,
    ]);
    expect(short).toEqual([
      ['page.click', 'page', 'click', true],
      ['web.search', 'web', 'search', false],
      ['host.clock', 'host', 'clock', false],
    ]);
  });
});

describe('the executor', () => {
  test('finds a tool by connection and original name, whatever name a model sees', async () => {
    const { calls, executor } = answering({ content: [{ type: 'text', text: 'done' }], isError: false, details });
    const outcome = await executor.callTool('page', 'click', { target: 'e1' });
    expect(outcome).toEqual({ outcome: 'ok', output: { content: 'done' }, epoch: 'n-1' });
    expect(calls).toEqual([{ call: { name: 'web_click', arguments: { target: 'e1' } }, options: {} }]);
  });

  test('sends the expected epoch to what keeps state, and to nothing else', async () => {
    const { calls, executor } = answering({ content: [], isError: false, details });
    await executor.callTool('page', 'click', {}, { expectEpoch: 'n-1' });
    await executor.callTool('web', 'search', {}, { expectEpoch: 'n-1' });
    expect(calls.map(({ options }) => options?.expectEpoch)).toEqual(['n-1', undefined]);
  });

  test('joins text, keeps structure and images, also of an error', async () => {
    const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' };
    const { executor } = answering({
      content: [{ type: 'text', text: 'a' }, image, { type: 'text', text: 'b' }],
      isError: true,
      structuredContent: { n: 1 },
      details,
    });
    expect(await executor.callTool('page', 'click', {})).toEqual({
      outcome: 'error',
      message: 'a\nb',
      output: { content: 'a\nb', structured: { n: 1 }, images: [{ data: 'AAAA', mimeType: 'image/png' }] },
      epoch: 'n-1',
    });
  });

  test.each([
    ['CALL_TIMEOUT', 'timeout'],
    ['SERVER_EXITED', 'server_exited'],
    ['THREAD_EXITED', 'server_exited'],
    ['THREAD_MEMORY', 'server_exited'],
    ['SESSION_CLOSED', 'server_exited'],
    ['STATE_LOST', 'state_lost'],
  ] as const)('makes %s of a server the outcome %s, without an output', async (code, outcome) => {
    const { executor } = answering(errorResult(code, 'why', { outcome: 'sent-unknown', server: 'page', epoch: 'n-2' }));
    expect(await executor.callTool('page', 'click', {})).toEqual({ outcome, message: 'why', epoch: 'n-2' });
  });

  test('makes any other failure an error', async () => {
    const { executor } = answering(errorResult('SERVER_START_FAILED', 'why', { outcome: 'not-sent', server: 'page' }));
    expect(await executor.callTool('page', 'click', {})).toMatchObject({ outcome: 'error', message: 'why', epoch: '' });
  });

  test('rejects when the session itself has ended', async () => {
    const { executor } = answering(errorResult('SESSION_CLOSED', 'closed', { outcome: 'not-sent' }));
    await expect(executor.callTool('page', 'click', {})).rejects.toMatchObject({ code: 'SESSION_CLOSED' });
  });

  test('answers for a tool that is not there', async () => {
    const { executor } = answering({ content: [], isError: false });
    expect(await executor.callTool('page', 'clack', {})).toMatchObject({
      outcome: 'error',
      message: 'There is no tool clack of connection page in this session.',
    });
  });
});

describe('a node spec', () => {
  // WF-T3-UNSET, WF-T5-INJECTED
  test('sends no key that is not mapped', async () => {
    const { calls, executor } = answering({ content: [], isError: false, details });
    const [spec] = nodeSpecs(catalogOf([click]), executor);
    await spec?.invoke({ target: 'e1', element: undefined });
    await spec?.invoke({});
    expect(calls.map(({ call }) => call.arguments)).toEqual([{ target: 'e1' }, {}]);
  });
});
