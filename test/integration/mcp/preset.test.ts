/** The browser preset over the fake server, which has its two tools when it gets the preset's arguments. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type ExtensionHostOptions, type LogRecord, mcpExtension } from '../../../src/host/index.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const SERVER = fileURLToPath(new URL('../../fixtures/servers/fake-mcp-server.mjs', import.meta.url));

/** One program without arguments of its own, as `command` of the preset has to be. */
function program(): string {
  const file = join(makeWorkspace('bin'), 'fake-playwright');
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  writeFileSync(file, `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(SERVER)} "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

function hostOf(options: ExtensionHostOptions = {}) {
  const playwright = { enabled: true, command: program() };
  return makeHost([mcpExtension({ playwright, environment: false })], options);
}

const send = { name: 'send', description: 'Sends a file.', parameters: { type: 'object' }, execute: () => 'sent' };
const go = { name: 'browser_navigate', arguments: { url: 'about:blank' } };

// MCP-20
test('the folder for files is there before the server starts, so that a named screenshot can be written', async () => {
  const session = await openSession(hostOf());
  expect(existsSync(join(session.cwd, 'browser'))).toBe(false);
  expect((await session.callTool(go)).isError).toBe(false);
  expect(existsSync(join(session.cwd, 'browser'))).toBe(true);
  const shot = { name: 'browser_take_screenshot', arguments: { filename: 'browser/shot.png' } };
  expect((await session.callTool(shot)).isError).toBe(false);
  expect(existsSync(join(session.cwd, 'browser', 'shot.png'))).toBe(true);
});

test('a file in the place of that folder is an error result of the call', async () => {
  const session = await openSession(hostOf());
  writeFileSync(join(session.cwd, 'browser'), 'in the way');
  const result = await session.callTool(go);
  expect(result).toMatchObject({ isError: true, details: { outcome: 'not-sent' } });
  expect(textOf(result)).toContain('EEXIST');
});

// MCP-77
test('its section is there while a browser tool is active, and names `send` only while that is active', async () => {
  const host = hostOf({ builtinTools: [send] });
  const sections = async (activeTools?: readonly string[]) => {
    const session = await openSession(host, activeTools === undefined ? {} : { activeTools });
    return (await session.beforeAgentStart({ prompt: 'go' })).sections;
  };
  const { browser = '' } = await sections();
  expect(browser).toMatch(/^## Browser\n- /);
  expect(browser).toMatch(/browser_snapshot.*before you take a screenshot/);
  expect(browser).toMatch(/`filename: "browser\/<name>\.png"`.* call `send` with that path/);
  const without = (await sections(['browser_navigate']))['browser'] ?? '';
  expect(without).not.toContain('send');
  expect(without).toContain('are under browser/ in the workspace');
  expect(await sections(['send', 'echo'])).toHaveProperty('browser');
  expect(await sections(['send'])).toEqual({});
});

// MCP-11
test('the log says once for the host that it is enabled', async () => {
  const host = hostOf();
  const said: LogRecord[] = [];
  host.on('log', (record) => {
    if (record.message.startsWith('MCP: playwright')) said.push(record);
  });
  await Promise.all([openSession(host), openSession(host)]);
  await openSession(host);
  expect(said.map(({ level, message }) => [level, message])).toEqual([
    ['info', 'MCP: playwright enabled (headless, chromium)'],
  ]);
});
