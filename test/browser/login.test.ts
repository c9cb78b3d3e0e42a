/** The browser preset keeps logins: a real cookie of a real page, in the profile of the workspace, over every kind of stop. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ExtensionHost, mcpExtension, type Session } from '../../src/host/index.ts';
import { RpcClient } from '../integration/cli/rpc-client.ts';
import { makeHost, openSession, textOf } from '../support/extension-fixtures.ts';
import { type LoginPage, serveLogin } from '../support/login-page.ts';
import { installedPreset } from '../support/preset.ts';
import { processesWith, waitUntil } from '../support/processes.ts';
import { makeWorkspace } from '../support/workspace.ts';

let page: LoginPage;

beforeAll(async () => {
  page = await serveLogin();
});

const presetHost = (options = {}): ExtensionHost =>
  makeHost([mcpExtension({ playwright: installedPreset(options), environment: false })]);

async function go(session: Session, url: string): Promise<string> {
  const opened = await session.callTool({ name: 'browser_navigate', arguments: { url } });
  expect(opened.isError, textOf(opened)).toBe(false);
  return textOf(await session.callTool({ name: 'browser_snapshot' }));
}

/** Logs in, and sees that it worked. */
async function login(session: Session): Promise<void> {
  expect(await go(session, page.login)).toContain('Logged in');
  expect(await go(session, page.url)).toContain('Welcome back, Ada');
}

const epochOf = async (session: Session) =>
  (await session.callTool({ name: 'browser_tabs', arguments: { action: 'list' } })).details?.epoch;

describe('a login', { timeout: 180_000 }, () => {
  test('survives /new, in a fresh browser, and a stop of its idle server', async () => {
    const session = await openSession(presetHost());
    await login(session);
    const first = await epochOf(session);
    await session.restart('new');
    expect(processesWith(session.cwd)).toEqual([]);
    expect(await go(session, page.url)).toContain('Welcome back, Ada');
    const second = await epochOf(session);
    expect(second).not.toBe(first);
    // What the idle stop does as well: the same ladder with the same hook.
    await session.runCommand('mcp', 'restart playwright');
    expect(await go(session, page.url)).toContain('Welcome back, Ada');
    expect(await epochOf(session)).not.toBe(second);
    expect(existsSync(join(session.cwd, '.caldera', 'browser-profile'))).toBe(true);
    expect(existsSync(join(session.cwd, 'browser'))).toBe(true);
  });

  test('survives the end of the host, which leaves no process', async () => {
    const cwd = makeWorkspace('browser');
    const host = presetHost();
    await login(await openSession(host, { cwd }));
    await host.close();
    expect(processesWith(cwd)).toEqual([]);
    expect(await go(await openSession(presetHost(), { cwd }), page.url)).toContain('Welcome back, Ada');
  });

  test('survives SIGTERM of the program around the host, which leaves no process', async () => {
    const cwd = makeWorkspace('browser');
    const file = join(makeWorkspace('config'), 'caldera.json');
    writeFileSync(file, JSON.stringify({ mcp: { playwright: installedPreset(), environment: false } }));
    const client = new RpcClient(['--config', file]).read();
    await client.result('session/open', { sessionId: 'a', cwd }, 120_000);
    expect(await client.call('a', 'browser_navigate', { url: page.login }, 120_000)).not.toMatch(/Error/);
    client.process.kill('SIGTERM');
    // As a shell says it: 128 and the number of the signal.
    expect(await client.exited).toEqual({ code: 143, signal: null });
    expect(processesWith(cwd)).toEqual([]);
    expect(await go(await openSession(presetHost(), { cwd }), page.url)).toContain('Welcome back, Ada');
  });

  test('is kept by the workspace it was made in, and by none with --isolated', async () => {
    const host = presetHost();
    await login(await openSession(host));
    expect(await go(await openSession(host), page.url)).toContain('Who are you?');
    const isolated = await openSession(presetHost({ extraArgs: ['--isolated'] }));
    await login(isolated);
    await isolated.restart('new');
    expect(await go(isolated, page.url)).toContain('Who are you?');
    expect(existsSync(join(isolated.cwd, '.caldera'))).toBe(false);
  });
});

describe('what a browser cannot do', { timeout: 180_000 }, () => {
  test('a second chat in the same workspace gets the words of the server, and works when the first is done', async () => {
    const host = presetHost();
    const cwd = makeWorkspace('browser');
    const [one, two] = [await openSession(host, { cwd }), await openSession(host, { cwd })];
    await login(one);
    const refused = await two.callTool({ name: 'browser_navigate', arguments: { url: page.url } });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(/already in use/);
    await one.close();
    expect(await go(two, page.url)).toContain('Welcome back, Ada');
  });

  test('a browser that is not there is an error result of the first call', async () => {
    const session = await openSession(presetHost({ executablePath: '/nowhere/chromium' }));
    expect(session.failures).toEqual([]);
    const result = await session.callTool({ name: 'browser_navigate', arguments: { url: page.url } });
    expect(result).toMatchObject({ isError: true, details: { server: 'playwright', outcome: 'done' } });
    expect(textOf(result)).toMatch(/\/nowhere\/chromium/);
  });

  test('an idle browser is stopped, and its login is there again', async () => {
    const { playwright } = { playwright: installedPreset() };
    const servers = {
      browser: {
        command: playwright.command ?? '',
        args: [
          '--headless',
          ...['--executable-path', playwright.executablePath ?? '', ...(playwright.extraArgs ?? [])],
          ...['--user-data-dir', '${workspace}/profile'],
        ],
        stopTool: 'browser_close',
        idleTimeoutSeconds: 1,
        shutdownTimeoutSeconds: 10,
      },
    };
    const host = makeHost([mcpExtension({ servers, environment: false })]);
    const session = await openSession(host);
    await login(session);
    await waitUntil(() => processesWith(session.cwd).length === 0, 'the idle stop', { timeoutMs: 60_000 });
    expect(await go(session, page.url)).toContain('Welcome back, Ada');
  });
});
