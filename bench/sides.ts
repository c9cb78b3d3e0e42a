import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ExtensionHost, mcpExtension } from 'caldera';
import { FAKE_SERVER } from './fake-server.ts';
import type { Workload } from './workloads.ts';

/** Makes calls of one server. */
export interface Side {
  call(workload: Workload): Promise<void>;
  close(): Promise<void>;
}

/** The official SDK's client and its stdio transport on the main thread. */
export async function bareSdk(): Promise<Side> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ ...FAKE_SERVER, args: [...FAKE_SERVER.args] }));
  return {
    async call({ tool, arguments: args }) {
      const result = await client.callTool({ name: tool, arguments: args });
      if (result.isError === true) throw new Error(`${tool} failed: ${JSON.stringify(result.content)}`);
    },
    close: () => client.close(),
  };
}

/** One session of a host with the MCP extension. */
export async function caldera(): Promise<Side> {
  const folder = mkdtempSync(join(tmpdir(), 'caldera-bench-'));
  const server = { ...FAKE_SERVER, parallel: true };
  const host = new ExtensionHost({
    agentDir: join(folder, 'agent'),
    extensions: [mcpExtension({ servers: { fake: server } })],
  });
  const session = await host.openSession({ id: 'bench', cwd: folder });
  return {
    async call({ tool, arguments: args }) {
      const result = await session.callTool({ name: tool, arguments: args });
      if (result.isError) throw new Error(`${tool} failed: ${JSON.stringify(result.content)}`);
    },
    async close() {
      await host.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
