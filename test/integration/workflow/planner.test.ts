import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mcpExtension } from '../../../src/host/index.ts';
import { Planner, type WorkflowCatalog } from '../../../src/host/workflow/index.ts';
import { makeHost, openSession } from '../../support/extension-fixtures.ts';
import { pageServer, readPageLog } from '../../support/page-server.ts';
import { waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

function stage() {
  const cwd = makeWorkspace();
  const more = join(cwd, 'more');
  const log = join(cwd, 'page.log');
  const host = makeHost([mcpExtension({ servers: { page: pageServer({ PAGE_LOG: log, PAGE_MORE: more }) } })], {
    builtinTools: [
      { name: 'clock', description: 'The time.', parameters: { type: 'object' }, execute: () => 'twelve' },
    ],
  });
  return { host, planner: new Planner(host, { cwd }), more, log };
}

const names = (catalog: WorkflowCatalog) => catalog.map(({ name }) => name);
const PAGE = ['page.navigate', 'page.snapshot', 'page.click', 'page.slow'];

describe('a planner', () => {
  test('sees what a session offers, with what it has to know of each', async () => {
    const { planner } = stage();
    const catalog = await planner.listCapabilities();
    expect(names(catalog)).toEqual(['host.clock', ...PAGE]);
    expect(catalog.find(({ name }) => name === 'page.snapshot')).toMatchObject({
      connectionId: 'page',
      tool: 'snapshot',
      inputSchema: { type: 'object', additionalProperties: false },
      annotations: { readOnlyHint: true },
      stateful: true,
    });
    expect(catalog[0]).toMatchObject({ connectionId: 'host', stateful: false });
  });

  // WF-T8-SURFACE, WF-PERSISTENT
  test('makes its steps on one session, so that the next one finds what the last one left', async () => {
    const { planner, log } = stage();
    expect(await planner.callCapability('page.snapshot')).toMatchObject({ outcome: 'error' });
    const { epoch } = await planner.callCapability('page.navigate', { url: 'u' });
    expect(await planner.callCapability('page.snapshot', {}, { expectEpoch: epoch })).toMatchObject({
      outcome: 'ok',
      epoch,
    });
    expect(new Set(readPageLog(log).map(({ pid }) => pid)).size).toBe(1);
    expect(await planner.callCapability('host.clock')).toEqual({
      outcome: 'ok',
      output: { content: 'twelve' },
      epoch: '',
    });
    await planner.close();
    expect(await planner.callCapability('page.snapshot')).toMatchObject({ outcome: 'error' });
  });

  test('makes a step on the session it is given', async () => {
    const { host, planner } = stage();
    const session = await openSession(host);
    await planner.callCapability('page.navigate', { url: 'u' }, { session });
    expect(await session.executor.callTool('page', 'snapshot', {})).toMatchObject({ outcome: 'ok' });
    expect(await planner.callCapability('page.snapshot')).toMatchObject({ outcome: 'error' });
  });

  test('is told which capability it may have meant', async () => {
    const { planner } = stage();
    await expect(planner.callCapability('page.snapshots')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'there is no capability page.snapshots; did you mean "page.snapshot"?',
    });
  });

  // WF-DISCOVERY
  test('looks at a connection again with a process that is gone after it; the one that runs is not touched', async () => {
    const { host, planner, more } = stage();
    const { epoch } = await planner.callCapability('page.navigate', { url: 'u' });
    const running = host.inspect().processes.map(({ pid }) => pid);
    writeFileSync(more, '');
    expect(names(await planner.refreshConnectionCatalog('page'))).toEqual([...PAGE, 'page.reload']);
    expect(names((await openSession(host)).catalog)).toContain('page.reload');
    expect(await planner.callCapability('page.snapshot', {}, { expectEpoch: epoch })).toMatchObject({ outcome: 'ok' });
    const pids = () => host.inspect().processes.map(({ pid }) => pid);
    await waitUntil(() => pids().length === 1, 'the end of the discoveries');
    expect(pids()).toEqual(running);
  });

  test('keeps what is offered when a refresh fails, and is told why', async () => {
    const { planner, more } = stage();
    await planner.listCapabilities();
    writeFileSync(more, 'broken');
    await expect(planner.refreshConnectionCatalog('page')).rejects.toMatchObject({
      code: 'SERVER_START_FAILED',
      message: expect.stringContaining('code 9'),
    });
    expect(names(await planner.listCapabilities())).toEqual(['host.clock', ...PAGE]);
    await expect(planner.refreshConnectionCatalog('pages')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});
