import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { McpServerOptions } from '../../shared/mcp-options.ts';
import type { ToolResult } from '../../shared/tool.ts';
import { type ExtensionHost, mcpExtension } from '../index.ts';

const CHROMIUMS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const PAGE = `<!doctype html><title>Caldera demo</title>
<button onclick="this.textContent = 'Clicked ' + (this.times = (this.times ?? 0) + 1)">Click me</button>`;

export interface BrowserStep {
  readonly step: 'browser';
  /** Why it was left out; then there is nothing else. */
  readonly skipped?: string;
  readonly chromium?: string;
  readonly tools?: number;
  /** What the button says after two clicks. */
  readonly button?: string;
  readonly screenshotBytes?: number;
}

/** The server of a fourth chat, or why there is none. Nothing is downloaded: what is not here is left out. */
export function findBrowser(
  env: Readonly<Record<string, string | undefined>>,
): { readonly chromium: string; readonly server: McpServerOptions } | { readonly missing: string } {
  const chromium = [env['PLAYWRIGHT_EXECUTABLE_PATH'] ?? '', ...CHROMIUMS].find((file) => file && existsSync(file));
  if (chromium === undefined) return { missing: 'no Chromium was found; PLAYWRIGHT_EXECUTABLE_PATH can name one' };
  const manifest = [import.meta.url, join(process.cwd(), 'package.json')].flatMap((from) => {
    try {
      return [createRequire(from).resolve('@playwright/mcp/package.json')];
    } catch {
      return [];
    }
  })[0];
  if (manifest === undefined) return { missing: '@playwright/mcp is not installed here; npm install @playwright/mcp' };
  const args = [
    join(dirname(manifest), 'cli.js'),
    '--headless',
    '--isolated',
    '--browser=chromium',
    `--executable-path=${chromium}`,
    '--output-dir=${workspace}/browser',
    // Chromium refuses its sandbox to root, as in a container.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ];
  return { chromium, server: { command: process.execPath, args, shutdownTimeoutSeconds: 10 } };
}

/** A fourth chat with a browser: opens a page of ours on loopback, clicks twice, takes a picture, and is closed. */
export async function browse(
  host: ExtensionHost,
  cwd: string,
  { chromium, server }: { readonly chromium: string; readonly server: McpServerOptions },
): Promise<BrowserStep & { readonly ok: boolean }> {
  await host.load(mcpExtension({ servers: { browser: server }, activationWaitSeconds: null }));
  const session = await host.openSession({ id: 'chat-4', cwd });
  const page = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(PAGE));
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  const call = (name: string, args = {}): Promise<ToolResult> => session.callTool({ name, arguments: args });
  try {
    await call('browser_navigate', { url: `http://127.0.0.1:${(page.address() as AddressInfo).port}/` });
    for (let click = 0; click < 2; click++) {
      await call('browser_click', { element: 'the button', target: buttonIn(await call('browser_snapshot')).ref });
    }
    const button = buttonIn(await call('browser_snapshot')).text;
    const picture = (await call('browser_take_screenshot')).content.find(({ type }) => type === 'image');
    const screenshotBytes = picture?.type === 'image' ? Buffer.byteLength(picture.data, 'base64') : 0;
    const tools = session.tools.filter(({ source }) => source.server === 'browser').length;
    const ok = button === 'Clicked 2' && screenshotBytes > 0;
    return { step: 'browser', ok, chromium, tools, button, screenshotBytes };
  } finally {
    page.close();
    page.closeAllConnections();
    await session.close();
  }
}

function buttonIn({ content }: ToolResult): { readonly ref: string; readonly text: string } {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  const [, name = '', ref = ''] = /button "([^"]+)"(?: \[active\])? \[ref=(\w+)\]/.exec(text) ?? [];
  return { ref, text: name };
}
