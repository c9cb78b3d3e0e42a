import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const at = (path: string) => new URL(`../../${path}`, import.meta.url).href;
const preload = (name: string) => ['--import', at(`test/support/${name}`)];

/** The modules (URLs, and paths of what was required) that a fresh process loads on its main thread. */
function modulesLoadedBy(...program: readonly string[]): string[] {
  // Hooks that are registered later run first: the trace has to come after the one that strips types.
  const args = [...preload('ts-worker-hook.mjs'), ...preload('trace-loads.mjs'), ...program];
  const { status, stderr, output } = spawnSync(process.execPath, args, {
    cwd: fileURLToPath(at('')),
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  expect(status, stderr).toBe(0);
  return (output[3] ?? '').split('\n').filter((line) => line !== '');
}

const evaluate = (program: string) => ['--input-type=module', '--eval', program];

const ofSdk = (urls: readonly string[]) => urls.filter((url) => url.includes('/@modelcontextprotocol/'));

describe('the main thread', () => {
  test('importing the package loads no module of the MCP SDK, of the worker, or of jiti', () => {
    const urls = modulesLoadedBy(...evaluate(`await import('${at('src/host/index.ts')}')`));
    expect(urls).toEqual(expect.arrayContaining([at('src/host/index.ts'), at('src/shared/errors.ts')]));
    expect(ofSdk(urls)).toEqual([]);
    expect(urls.filter((url) => url.includes('/src/worker/') || url.includes('/node_modules/jiti/'))).toEqual([]);
  });

  test('importing caldera/workflow loads no module of the MCP SDK, of the worker, or of LangGraph', () => {
    const urls = modulesLoadedBy(...evaluate(`await import('${at('src/host/workflow/index.ts')}')`));
    expect(urls).toContain(at('src/host/workflow/index.ts'));
    expect(ofSdk(urls)).toEqual([]);
    expect(urls.filter((url) => url.includes('/src/worker/') || url.includes('/@langchain/'))).toEqual([]);
  });

  test('the command line loads no module of the MCP SDK', () => {
    const urls = modulesLoadedBy('src/host/cli/main.ts', '--help');
    expect(urls).toContain(at('src/host/cli/main.ts'));
    expect(ofSdk(urls)).toEqual([]);
    expect(urls.filter((url) => url.includes('/@langchain/'))).toEqual([]);
  });

  test('a program that does load the SDK is caught by the same trace', () => {
    const program = `const { loadSdk } = await import('${at('src/worker/mcp/connection/client/sdk-client.ts')}'); await loadSdk();`;
    expect(ofSdk(modulesLoadedBy(...evaluate(program)))).not.toEqual([]);
  });
});
