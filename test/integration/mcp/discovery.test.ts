import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Logger, PreparedProcess, ProcessRequest } from '../../../src/shared/extension-api.ts';
import { DEFAULT_LIMITS } from '../../../src/shared/limits.ts';
import { type McpServerOptions, parseMcpOptions, type ServerConfig } from '../../../src/shared/mcp-options.ts';
import { Discoveries } from '../../../src/worker/mcp/catalog/discoveries.ts';
import type { DiscoveryServices } from '../../../src/worker/mcp/catalog/discovery.ts';
import { isAlive, waitUntil, waitUntilEnded } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const ODD_LISTER = fileURLToPath(new URL('../../fixtures/servers/odd-lister.mjs', import.meta.url));
const state = makeWorkspace('state');
const discoveries = new Discoveries();
let runs = 0;

afterEach(async () => {
  await discoveries.endAll(5000);
  vi.unstubAllEnvs();
});

/** One test's server, log, temporary folder and warnings. */
function setUp(mode: string, more: Partial<McpServerOptions> & { readonly delayMs?: number } = {}) {
  const { delayMs = 0, ...entry } = more;
  const log = join(state, `log ${++runs}`);
  const tmp = makeWorkspace('tmp');
  vi.stubEnv('TMPDIR', tmp);
  const options = {
    command: process.execPath,
    args: [ODD_LISTER, mode, String(delayMs)],
    env: { ODD_LOG: log },
    ...entry,
  };
  const [config] = parseMcpOptions({ servers: { odd: options } }).config.servers;
  if (!config) throw new Error('bad options in the test');
  const warnings: string[] = [];
  const lines = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []);
  const starts = () =>
    lines()
      .filter((line) => line.startsWith('start '))
      .map((line) => line.split(' '));
  return {
    config,
    warnings,
    lines,
    services: services(warnings),
    folders: () => readdirSync(tmp),
    pids: () => starts().map(([, pid]) => Number(pid)),
    cwds: () => starts().map((words) => words.slice(2).join(' ')),
    tmp,
  };
}

function services(warnings: string[]): DiscoveryServices {
  const ignore = (): void => {};
  const logger: Logger = {
    debug: ignore,
    info: ignore,
    error: ignore,
    warn: (_, message) => void warnings.push(message ?? ''),
  };
  const prepare = async ({ command, args, cwd, env }: ProcessRequest): Promise<PreparedProcess> => {
    const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== null);
    return {
      command,
      args,
      cwd,
      env: { PATH: process.env['PATH'] ?? '', ...Object.fromEntries(set) },
      id: `n-${runs}`,
    };
  };
  return { prepare, readEnv: async () => undefined, track: ignore, logger, limits: DEFAULT_LIMITS };
}

const run = ({ config, services: given }: { config: ServerConfig; services: DiscoveryServices }) =>
  discoveries.run(config, given);

describe('a discovery', () => {
  // MCP-32
  it('gives the catalogue, and leaves no process and no folder behind', async () => {
    const odd = setUp('answer', { toolPrefix: 'p_' });
    expect(await run(odd)).toEqual({
      server: 'odd',
      info: { name: 'odd', version: '1' },
      protocolVersion: expect.stringMatching(/^20/),
      tools: [{ mcpName: 'one.two', exposedName: 'p_one_two', description: 'one.two', parameters: { type: 'object' } }],
      skipped: [],
    });
    expect(odd.cwds()[0]?.startsWith(join(odd.tmp, 'caldera-discovery-'))).toBe(true);
    await waitUntil(() => odd.folders().length === 0, 'the end of the folder');
    expect(odd.pids().some(isAlive)).toBe(false);
    expect(odd.warnings).toEqual([]);
  });

  // MCP-33
  it('answers before the server has ended', async () => {
    const odd = setUp('stay', { shutdownTimeoutSeconds: 2 });
    await run(odd);
    expect(odd.pids().every(isAlive)).toBe(true);
    await waitUntil(() => odd.folders().length === 0, 'the end of the folder');
    expect(odd.pids().some(isAlive)).toBe(false);
  });

  it('removes read-only folders and what is written while the server ends', async () => {
    const odd = setUp('litter');
    await run(odd);
    expect(odd.folders()).toHaveLength(1);
    await waitUntil(() => odd.folders().length === 0, 'the end of the folder');
    expect(odd.warnings).toEqual([]);
  });

  // MCP-34 MCP-35
  it.each([
    ['hang', /^odd MCP server timed out after 1s/],
    ['exit', /^odd MCP server exited with code 7[\s\S]*licence expired/],
    ['fail', /^odd MCP server .*tools cannot be listed: .*no tools today/],
  ])('fails with the reason when the list goes wrong (%s)', async (mode, reason) => {
    const odd = setUp(mode, { startupTimeoutSeconds: mode === 'hang' ? 1 : 20, shutdownTimeoutSeconds: 1 });
    await expect(run(odd)).rejects.toMatchObject({
      code: 'SERVER_START_FAILED',
      message: expect.stringMatching(reason),
    });
    await waitUntil(() => odd.folders().length === 0, 'the end of the folder');
    await waitUntilEnded(odd.pids());
  });

  it('fails with the reason when the server cannot be started', async () => {
    const odd = setUp('answer', { command: 'no-such-command-xyz' });
    await expect(run(odd)).rejects.toMatchObject({
      code: 'SERVER_START_FAILED',
      message: expect.stringContaining('no-such-command-xyz'),
    });
    await waitUntil(() => odd.folders().length === 0, 'the end of the folder');
  });

  it('says so when there is no room for its folder', async () => {
    const odd = setUp('answer');
    vi.stubEnv('TMPDIR', join(odd.tmp, 'missing'));
    await expect(run(odd)).rejects.toMatchObject({
      code: 'SERVER_START_FAILED',
      message: expect.stringContaining('temporary folder'),
    });
    expect(odd.lines()).toEqual([]);
  });

  it('waits while four others run', async () => {
    const odd = setUp('answer', { delayMs: 300 });
    await Promise.all(Array.from({ length: 6 }, () => run(odd)));
    let running = 0;
    let most = 0;
    for (const line of odd.lines()) {
      running += line.startsWith('start ') ? 1 : -1;
      most = Math.max(most, running);
    }
    expect(odd.pids()).toHaveLength(6);
    expect(most).toBeLessThanOrEqual(4);
    expect(most).toBeGreaterThan(1);
  });
});

describe('the end of the last session', () => {
  it('ends what is being discovered, and cleans up behind it', async () => {
    const odd = setUp('hang', { shutdownTimeoutSeconds: 1 });
    const answer = run(odd).catch((error: unknown) => error);
    await waitUntil(() => odd.pids().length === 1, 'the start');
    await discoveries.endAll(5000);
    expect(await answer).toMatchObject({ code: 'ABORTED' });
    expect(odd.folders()).toEqual([]);
    expect(odd.pids().some(isAlive)).toBe(false);
  });

  it('starts none of those that wait', async () => {
    const odd = setUp('hang', { shutdownTimeoutSeconds: 1 });
    const answers = Array.from({ length: 6 }, () => run(odd).catch((error: unknown) => error));
    await waitUntil(() => odd.pids().length === 4, 'four starts');
    await discoveries.endAll(5000);
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ code: 'ABORTED' });
    expect(odd.pids()).toHaveLength(4);
    expect(odd.folders()).toEqual([]);
  });

  it('hurries a server that takes its time to end', async () => {
    const odd = setUp('stay', { shutdownTimeoutSeconds: 60 });
    await run(odd);
    await discoveries.endAll(1500);
    await waitUntil(() => odd.folders().length === 0, 'the end of the folder');
    expect(odd.pids().some(isAlive)).toBe(false);
  });
});
