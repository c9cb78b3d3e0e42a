/** The browser preset as this machine can run it: the installed @playwright/mcp over a Chromium, and no npx. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PlaywrightOptions } from '../../src/shared/playwright-preset.ts';
import { chromium } from './browser.ts';

const COMMAND = fileURLToPath(new URL('../../node_modules/.bin/playwright-mcp', import.meta.url));

/** Options of the preset; `extraArgs` go behind what a root user needs. */
export function installedPreset({ extraArgs = [], ...more }: PlaywrightOptions = {}): PlaywrightOptions {
  if (!existsSync(COMMAND)) throw new Error('@playwright/mcp is not installed: npm ci');
  // Chromium refuses to run as root with its own sandbox.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return {
    enabled: true,
    command: COMMAND,
    executablePath: chromium(),
    extraArgs: [...sandbox, ...extraArgs],
    ...more,
  };
}
