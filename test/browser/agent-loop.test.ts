/** An agent with a real browser: what its model reads before and after /new. */
import { beforeAll, expect, test } from 'vitest';
import { mcpExtension } from '../../src/host/index.ts';
import { answersIn, runAgent } from '../support/agent-loop.ts';
import { makeHost, openSession } from '../support/extension-fixtures.ts';
import { type LoginPage, serveLogin } from '../support/login-page.ts';
import { installedPreset } from '../support/preset.ts';

let page: LoginPage;

beforeAll(async () => {
  page = await serveLogin();
});

const go = (url: string) => ({ name: 'browser_navigate', arguments: { url } });
const LOOK = { name: 'browser_snapshot' };
const TABS = { name: 'browser_tabs', arguments: { action: 'list' } };

test('/new resets the browser of an agent and keeps its login; a screenshot is in the next request', {
  timeout: 180_000,
}, async () => {
  const host = makeHost([mcpExtension({ playwright: installedPreset(), environment: false })]);
  const session = await openSession(host);
  const answersOf = async (script: Parameters<typeof runAgent>[1]) => {
    const { requests } = await runAgent(session, [...script, 'done']);
    expect(JSON.stringify(requests[0]?.prompt[0])).toContain('## Browser');
    const last = requests.at(-1);
    return last ? answersIn(last) : [];
  };
  const first = await answersOf([[go(page.login)], [go(page.url), LOOK, { name: 'browser_take_screenshot' }]]);
  expect(JSON.stringify(first[2])).toContain('Welcome back, Ada');
  expect(first[3]).toContainEqual(expect.objectContaining({ type: 'image-data', mediaType: 'image/png' }));
  await session.restart('new');
  const second = await answersOf([[TABS], [go(page.url), LOOK]]);
  expect(JSON.stringify(second[0])).not.toContain(page.url);
  expect(JSON.stringify(second[2])).toContain('Welcome back, Ada');
});
