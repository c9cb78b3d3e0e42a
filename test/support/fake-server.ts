/** The fake MCP server as a configuration entry, and what it logged. Its modes stand at the top of its file. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { McpServerOptions } from '../../src/shared/mcp-options.ts';

const FAKE_SERVER = fileURLToPath(new URL('../fixtures/servers/fake-mcp-server.mjs', import.meta.url));

/** A server entry that runs the fake server in `modes` (`'counter,count-starts'`); `more` goes over it, `env` into it. */
export function fakeServer(modes = 'normal', more: Partial<McpServerOptions> = {}): McpServerOptions {
  return {
    command: process.execPath,
    ...more,
    args: [FAKE_SERVER, ...(more.args ?? [])],
    env: { FAKE_MCP_MODE: modes, ...more.env },
  };
}

/** A line of `$FAKE_MCP_LOG`. */
export interface FakeServerEvent {
  readonly event: 'start' | 'call' | 'answered' | 'cancelled' | 'saved';
  readonly pid: number;
  readonly cwd?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly tool?: string;
  readonly arguments?: unknown;
}

/** The whole log, or the events of one name; empty while there is no file. */
export function readFakeServerLog(file: string, event?: FakeServerEvent['event']): FakeServerEvent[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as FakeServerEvent)
    .filter((entry) => event === undefined || entry.event === event);
}
