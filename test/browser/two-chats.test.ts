import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ExtensionHost, mcpExtension, type Session, type ToolResult } from '../../src/host/index.ts';
import { browserServer, CHROMIUM } from '../support/browser-server.ts';
import { textOf } from '../support/extension-fixtures.ts';
import { type LoopbackPage, servePage } from '../support/page.ts';
import { processesWith, waitUntil, waitUntilEnded } from '../support/processes.ts';
import { makeWorkspace } from '../support/workspace.ts';

/** Ends a broken test: a browser takes seconds to start, and a minute on a machine that does other things. */
const PATIENCE = { timeout: 240_000 };

let page: LoopbackPage;
let host: ExtensionHost;
let [ann, bob]: Session[] = [];

beforeAll(async () => {
  if (!existsSync(CHROMIUM))
    throw new Error(`there is no ${CHROMIUM}: apt-get install chromium, or name one in CHROMIUM`);
  page = await servePage();
  host = new ExtensionHost({
    agentDir: makeWorkspace('agent'),
    extensions: [mcpExtension({ servers: { browser: browserServer() }, activationWaitSeconds: null })],
  });
  [ann, bob] = await Promise.all(
    ['ann', 'bob'].map((id) => host.openSession({ id, cwd: makeWorkspace(`browser ${id}`) })),
  );
}, PATIENCE.timeout);

afterAll(async () => {
  await host.close();
  await page.close();
}, PATIENCE.timeout);

function chat(session: Session | undefined): Session {
  if (!session) throw new Error('the session did not open');
  return session;
}

async function call(session: Session | undefined, name: string, args = {}): Promise<ToolResult> {
  const result = await chat(session).callTool({ name, arguments: args });
  expect(result.isError, textOf(result)).toBe(false);
  return result;
}

const go = (session: Session | undefined, name: string) => call(session, 'browser_navigate', { url: page.url(name) });
const look = async (session: Session | undefined) => textOf(await call(session, 'browser_snapshot'));

async function clickCount(session: Session | undefined): Promise<void> {
  const target = /button "Count"(?: \[active\])? \[ref=(\w+)\]/.exec(await look(session))?.[1];
  await call(session, 'browser_click', { element: 'the count button', target });
}

/** The server of a session: the process the host itself started. */
function serverOf({ id }: Session): number {
  const found = host.inspect().processes.find(({ session }) => session === id);
  if (!found) throw new Error(`session ${id} has no server`);
  return found.pid;
}

describe('two chats with a real browser each', PATIENCE, () => {
  test('navigate, look, click and take a screenshot at once, and neither sees the page of the other', async () => {
    await Promise.all([go(ann, 'ann'), go(bob, 'bob')]);
    await Promise.all([clickCount(ann), clickCount(bob).then(() => clickCount(bob))]);
    const [anns, bobs] = await Promise.all([look(ann), look(bob)]);
    expect(anns).toContain('Hello ann');
    expect(anns).not.toContain('bob');
    expect(bobs).toContain('Hello bob');
    expect(bobs).not.toContain('ann');
    const counted = (text: string) => /status[^\n]*: "?(\d+)"?/.exec(text)?.[1];
    expect([counted(anns), counted(bobs)]).toEqual(['1', '2']);

    const shots = await Promise.all([ann, bob].map((session) => call(session, 'browser_take_screenshot')));
    for (const { content, details } of shots) {
      const image = content.find((block) => block.type === 'image');
      expect(image).toMatchObject({ type: 'image', mimeType: 'image/png' });
      expect(details?.images).toBe(1);
    }
  });

  test('each has one tab, its own', async () => {
    const tabs = await Promise.all([ann, bob].map((session) => call(session, 'browser_tabs', { action: 'list' })));
    const [anns = '', bobs = ''] = tabs.map(textOf);
    expect(anns).toContain(page.url('ann'));
    expect(anns).not.toContain(page.url('bob'));
    expect(bobs).toContain(page.url('bob'));
    expect(bobs).not.toContain(page.url('ann'));
  });

  test('after a kill of one server the other goes on and the first recovers with a blank page', async () => {
    const [killed, kept] = [serverOf(chat(ann)), serverOf(chat(bob))];
    process.kill(killed, 'SIGKILL');
    await waitUntilEnded([killed]);
    expect(await look(bob)).toContain('Hello bob');
    expect(serverOf(chat(bob))).toBe(kept);
    await waitUntil(() => !host.inspect().processes.some(({ pid }) => pid === killed), 'the host to know of the death');
    expect(await look(ann)).not.toContain('Hello ann');
    await go(ann, 'ann');
    expect(await look(ann)).toContain('Hello ann');
    expect(serverOf(chat(ann))).not.toBe(killed);
  });

  test('after the end of the host no browser and no server is left', async () => {
    // Every process of a chat was started in its workspace or has it among its arguments.
    const marks = [chat(ann).cwd, chat(bob).cwd];
    const left = (): number[] => marks.flatMap((mark) => processesWith(mark));
    expect(left().length).toBeGreaterThanOrEqual(2);
    await host.close();
    await waitUntil(() => left().length === 0, 'the end of every process');
    expect(host.inspect().processes).toEqual([]);
  });
});
