import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { McpServerOptions } from '../../shared/mcp-options.ts';

const IS_SOURCE = import.meta.url.endsWith('.ts');
const PROGRAM = new URL(`../../worker/programs/demo-server.${IS_SOURCE ? 'ts' : 'js'}`, import.meta.url);

/** The configuration of the embedded server of the demo. It takes calls at once, so nobody waits behind a cancelled one. */
export function demoServer(): McpServerOptions {
  return { command: process.execPath, args: [...loaderFlags(), fileURLToPath(PROGRAM)], parallel: true };
}

/** From source the server needs whatever lets this process read `.ts`; it runs in another folder, so paths become absolute. */
function loaderFlags(): string[] {
  if (!IS_SOURCE) return [];
  return process.execArgv.map((flag) => (flag.startsWith('.') ? pathToFileURL(resolve(flag)).href : flag));
}
