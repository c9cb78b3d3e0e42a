import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { McpServerOptions } from '../../src/shared/mcp-options.ts';

/** Debian's. CI installs it; another one is named by `CHROMIUM`. */
export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** `@playwright/mcp` of the development dependencies over {@link CHROMIUM}, as root and without a display. */
export function browserServer(): McpServerOptions {
  const manifest = createRequire(import.meta.url).resolve('@playwright/mcp/package.json');
  return {
    command: process.execPath,
    args: [
      join(dirname(manifest), 'cli.js'),
      '--headless',
      '--no-sandbox',
      '--isolated',
      '--browser=chromium',
      `--executable-path=${CHROMIUM}`,
      '--output-dir=${workspace}/browser',
    ],
    startupTimeoutSeconds: 120,
    callTimeoutSeconds: 120,
    shutdownTimeoutSeconds: 10,
  };
}
