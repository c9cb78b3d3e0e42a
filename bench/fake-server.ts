import { fileURLToPath } from 'node:url';

/** The same server for both sides: the fake one of the tests, with its tools `echo` and `big`. */
export const FAKE_SERVER = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../test/fixtures/servers/fake-mcp-server.mjs', import.meta.url))],
  env: { FAKE_MCP_MODE: 'big' },
} as const;
