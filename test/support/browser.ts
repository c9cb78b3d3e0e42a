/** The real @playwright/mcp over a Chromium of this machine, and a page to click on. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import type { McpServerOptions } from '../../src/shared/mcp-options.ts';

const CHROMIUMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** `PLAYWRIGHT_EXECUTABLE_PATH`, else where distributions put it. */
export function chromium(): string {
  const found = [process.env['PLAYWRIGHT_EXECUTABLE_PATH'] ?? '', ...CHROMIUMS].find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw new Error('the browser tests need a Chromium: set PLAYWRIGHT_EXECUTABLE_PATH');
}

/** @playwright/mcp as it is installed here, headless, with a profile in memory. */
export function playwrightServer(): McpServerOptions {
  const root = dirname(createRequire(import.meta.url).resolve('@playwright/mcp/package.json'));
  // Chromium refuses to run as root with its own sandbox.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return {
    command: process.execPath,
    args: [join(root, 'cli.js'), '--headless', '--isolated', ...sandbox, '--executable-path', chromium()],
    startupTimeoutSeconds: 60,
    callTimeoutSeconds: 60,
  };
}

const PAGE = `<!doctype html><title>Shop</title><h1>Not bought</h1>
<button onclick="fetch('/clicked', { method: 'POST' }); document.querySelector('h1').textContent = 'Bought'">Buy</button>`;

export interface ShopPage {
  readonly url: string;
  /** How often the button was pressed, as the web server saw it. */
  readonly clicks: () => number;
}

const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A page with a button, on loopback; it is gone after the test. */
export async function serveShop(): Promise<ShopPage> {
  let clicks = 0;
  const server = createServer((request, response) => {
    if (request.url === '/clicked') clicks += 1;
    response.setHeader('content-type', 'text/html').end(request.url === '/' ? PAGE : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, clicks: () => clicks };
}
