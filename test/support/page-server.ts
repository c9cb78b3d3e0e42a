/** The page server as a configuration entry, what it logged, and the deployment that clicks on its page. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Deployment } from '../../src/host/workflow/index.ts';
import type { McpServerOptions } from '../../src/shared/mcp-options.ts';

const PAGE_SERVER = fileURLToPath(new URL('../fixtures/servers/page-server.mjs', import.meta.url));

/** A server entry; what `env` may hold stands at the top of the server's file. */
export function pageServer(env: Readonly<Record<string, string>> = {}): McpServerOptions {
  return { command: process.execPath, args: [PAGE_SERVER], env };
}

export interface PageEvent {
  readonly event: 'call' | 'cancelled';
  readonly tool?: string;
  readonly keys?: readonly string[];
  readonly pid: number;
}

export function readPageLog(file: string): readonly PageEvent[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as PageEvent);
}

/** navigate → snapshot → click → snapshot; lost state leads back to the start. */
export const CLICK_ONCE: Deployment = {
  id: 'click-once',
  connections: ['page'],
  entry: 'open',
  nodes: [
    { id: 'open', capability: 'page.navigate', input: { url: '${input.url}' }, next: { ok: 'before' } },
    { id: 'before', capability: 'page.snapshot', input: {}, next: { ok: 'click', state_lost: 'open' } },
    {
      id: 'click',
      capability: 'page.click',
      input: { target: '${nodes.before.output.structured.ref}' },
      next: { ok: 'after', state_lost: 'open', server_exited: 'open' },
    },
    { id: 'after', capability: 'page.snapshot', input: {}, next: { state_lost: 'open' } },
  ],
};
