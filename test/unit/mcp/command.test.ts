import { describe, expect, it } from 'vitest';
import { type McpServerOptions, parseMcpOptions, type ServerConfig } from '../../../src/shared/mcp-options.ts';
import { printable } from '../../../src/shared/printable.ts';
import type { Catalog } from '../../../src/worker/mcp/catalog/catalog.ts';
import { offeredTools } from '../../../src/worker/mcp/catalog/offered-tools.ts';
import { mcpCommand, type ServerView } from '../../../src/worker/mcp/command.ts';
import type { ConnectionStatus } from '../../../src/worker/mcp/connection/server-connection.ts';

const idle: ConnectionStatus = {
  state: 'not-started',
  stderrTail: '',
  noiseLines: 0,
  counters: { calls: 0, errors: 0, restarts: 0 },
};

function configOf(name: string, more: Partial<McpServerOptions>): ServerConfig {
  const [config] = parseMcpOptions(structuredClone({ servers: { [name]: { command: 'node', ...more } } })).config
    .servers;
  if (!config) throw new Error(`no config for ${name}`);
  return config;
}

function catalogOf(server: string, names: readonly string[], more: Partial<Catalog> = {}): Catalog {
  const tools = names.map((name) => ({
    mcpName: name,
    exposedName: name.replaceAll('.', '_'),
    description: name,
    parameters: { type: 'object' },
  }));
  return structuredClone({ server, info: {}, tools, skipped: [], ...more });
}

interface Given {
  readonly options?: Partial<McpServerOptions>;
  readonly listing?: Exclude<ServerView['listing'], { state: 'listed' }>;
  readonly catalog?: Catalog;
  readonly status?: Partial<ConnectionStatus>;
}

function view(name: string, { options = {}, listing, catalog, status }: Given): ServerView {
  const config = configOf(name, options);
  const listed = catalog ?? catalogOf(name, ['a', 'b']);
  return {
    name,
    config,
    listing: listing ?? { state: 'listed', catalog: listed, offered: offeredTools(listed, config) },
    connection: status && { status: () => structuredClone({ ...idle, ...status }) },
  };
}

/** Runs the command over servers whose tools are all offered, but for those in `refused`. */
function run(servers: readonly ServerView[], args = '', refused: Readonly<Record<string, string | undefined>> = {}) {
  const restarted: string[] = [];
  const offered = (server: ServerView) =>
    server.listing.state === 'listed'
      ? server.listing.offered.tools.filter(({ exposedName }) => !(exposedName in refused))
      : [];
  const registrar = {
    namesOf: (name: string) =>
      servers
        .filter((server) => server.name === name)
        .flatMap((server) => offered(server).map((tool) => tool.exposedName)),
    holder: (name: string) =>
      name in refused
        ? refused[name]
        : servers.find((server) => offered(server).some((tool) => tool.exposedName === name))?.name,
  };
  const restart = async (name: string): Promise<void> => {
    restarted.push(name);
  };
  const refreshed: string[] = [];
  const refresh = async (name: string): Promise<void> => {
    refreshed.push(name);
  };
  const command = mcpCommand({ servers, registrar, restart, refresh });
  return { text: command.handler(args, undefined as never), restarted, refreshed };
}

describe('/mcp', () => {
  // MCP-63
  it('has a line for each server, with its state and its number of tools', async () => {
    const servers = [
      view('fresh', {}),
      view('idle', { status: {} }),
      view('one', { catalog: catalogOf('one', ['a']), status: { state: 'running' } }),
      view('ended', { status: { state: 'exited', lastError: 'x' } }),
      view('broken', { status: { state: 'failed', lastError: 'no such command: nope\nsecond line' } }),
      view('stopping', { status: { state: 'stopping' } }),
      view('slow', { listing: { state: 'starting' } }),
      view('dead', { listing: { state: 'failed', reason: 'dead MCP server exited (1)\n  traceback' } }),
      view('off', { options: { enabled: false }, listing: { state: 'disabled' } }),
      view('empty', { catalog: catalogOf('empty', []) }),
    ];
    expect(await run(servers).text).toBe(
      [
        'fresh: not started, 2 tools',
        'idle: not started, 2 tools',
        'one: running, 1 tool',
        'ended: exited (restarts on the next call), 2 tools',
        'broken: failed: no such command: nope, 2 tools',
        'stopping: stopping, 2 tools',
        'slow: starting',
        'dead: failed: dead MCP server exited (1)',
        'off: disabled',
        'empty: not started, 0 tools',
      ].join('\n'),
    );
  });

  it('says when there is nothing to list', async () => {
    expect(await run([]).text).toBe('no MCP servers are configured');
  });

  it('stays within its bound whatever servers wrote', async () => {
    const reason = `${'😀 '.repeat(5000)}\u001b[2J`;
    const servers = Array.from({ length: 500 }, (_, i) => view(`s${i}`, { listing: { state: 'failed', reason } }));
    const text = await run(servers).text;
    expect(text.length).toBeLessThanOrEqual(24_000);
    expect(text).toMatch(/… \(cut\)$/);
    expect(text.isWellFormed()).toBe(true);
  });
});

describe('/mcp <name>', () => {
  // MCP-64
  it('tells all there is to know', async () => {
    const catalog = catalogOf('demo', ['read.file', 'write'], {
      info: { name: 'demo-server', version: '1.2.3' },
      protocolVersion: '2024-11-05',
      skipped: [
        { name: 'dup', reason: 'listed twice' },
        { name: '', reason: 'the list was cut' },
      ],
    });
    const server = view('demo', {
      options: {
        args: ['-y', '@scope/pkg@1.0', '${workspace}/x', 'a b', '', 'say "hi"'],
        cwd: '${workspace}/sub',
        env: { TOKEN: 'hunter2', GONE: null },
      },
      catalog,
      status: {
        state: 'exited',
        lastError: 'demo MCP server exited (3)\nboom',
        stderrTail: 'line 1\nline 2\n',
        counters: { calls: 7, errors: 2, restarts: 1, p50Ms: 12.4, p95Ms: 99.6 },
        noiseLines: 3,
      },
    });
    const text = await run([server], 'demo').text;
    expect(text).toBe(
      [
        'demo: exited (restarts on the next call), 2 tools',
        'command: node -y @scope/pkg@1.0 ${workspace}/x "a b" "" "say \\"hi\\""',
        'cwd: ${workspace}/sub',
        'env: TOKEN, GONE (removed)',
        'server: demo-server 1.2.3, protocol 2024-11-05',
        'last error:',
        '  demo MCP server exited (3)',
        '  boom',
        'stderr, last lines:',
        '  line 1',
        '  line 2',
        'calls: 7 calls, 2 errors, 1 restarts, p50 12 ms, p95 100 ms, 3 lines on stdout that were no protocol',
        'tools: 2',
        '  read_file (read.file)',
        '  write',
        'left out: 2',
        '  dup: listed twice',
        '  the list was cut',
      ].join('\n'),
    );
    expect(text).not.toContain('hunter2');
  });

  it('prefers what the live server said about itself', async () => {
    const catalog = catalogOf('demo', [], { info: { name: 'old', version: '1' }, protocolVersion: 'p1' });
    const live = view('demo', {
      catalog,
      status: { state: 'running', info: { name: 'new', version: '2', protocolVersion: 'p2' } },
    });
    expect(await run([live], 'demo').text).toContain('server: new 2, protocol p2');
  });

  it('shows the whole reason of a failed discovery', async () => {
    const server = view('demo', {
      listing: { state: 'failed', reason: 'demo MCP server: timed out\nwaiting for database' },
    });
    expect(await run([server], ' demo ').text).toContain(
      'last error:\n  demo MCP server: timed out\n  waiting for database',
    );
  });

  it('says which tools are not offered, and why', async () => {
    const server = view('demo', { catalog: catalogOf('demo', ['read', 'bash', 'own']) });
    const text = await run([server], 'demo', { read: undefined, bash: 'alpha' }).text;
    expect(text).toContain('demo: not started, 1 tool\n');
    expect(text).toContain('  read: not offered, a built-in tool has this name');
    expect(text).toContain('  bash: not offered, alpha has this name');
    expect(text).toMatch(/ {2}own$/);
  });

  it('escapes what a server wrote, wherever it stands', async () => {
    const odd = 'x\u001b[2J\u202e\u2028\u0000\r';
    const server = view('demo', {
      options: { args: [odd], env: { [`V${odd.replaceAll('\u0000', '')}`]: 'x' } },
      catalog: catalogOf('demo', [odd], {
        info: { name: odd, version: `1\nforged: line` },
        protocolVersion: odd,
        skipped: [{ name: odd, reason: odd }],
      }),
      status: { state: 'failed', lastError: odd, stderrTail: odd },
    });
    for (const args of ['', 'demo', `no ${odd}`]) {
      const text = await run([server], args).text;
      expect(text).toBe(printable(text, { keepNewlines: true }));
      expect(text).not.toMatch(/^forged/m);
    }
  });

  it('stays within its bound', async () => {
    const names = Array.from({ length: 2000 }, (_, i) => `tool_${i}_${'n'.repeat(30)}`);
    const server = view('demo', {
      options: { args: Array.from({ length: 500 }, (_, i) => `--a${i}=${'x'.repeat(100)}`) },
      catalog: catalogOf('demo', names),
      status: { state: 'failed', lastError: 'e'.repeat(9000), stderrTail: 's'.repeat(8000) },
    });
    const text = await run([server], 'demo').text;
    expect(text.length).toBeLessThanOrEqual(24_000);
    expect(text).toContain('calls: 0 calls');
    expect(text).toContain('tools: 2000');
  });

  it('says which servers there are when the name is wrong', async () => {
    expect(await run([view('github', {}), view('demo', {})], 'gitub').text).toBe(
      'there is no MCP server gitub; did you mean github? /mcp lists all 2',
    );
    expect(await run([], 'x').text).toBe('there is no MCP server x; none is configured');
    expect(await run([view('Demo', {})], 'demo').text).toContain('did you mean Demo?');
  });
});

// MCP-65
describe('/mcp restart <name>', () => {
  it('restarts that server and shows its state', async () => {
    const { text, restarted } = run([view('a b', { status: {} }), view('other', {})], 'restart  a b');
    expect(await text).toBe('a b: not started, 2 tools\nIts next call runs on a fresh process.');
    expect(restarted).toEqual(['a b']);
  });

  it('restarts nothing else', async () => {
    const servers = [view('off', { options: { enabled: false }, listing: { state: 'disabled' } }), view('restart', {})];
    for (const args of ['restart off', 'restart nope', 'restart']) {
      const { text, restarted } = run(servers, args);
      await text;
      expect(restarted).toEqual([]);
    }
    expect(await run(servers, 'restart').text).toContain('restart: not started');
    expect(await run(servers, 'restart off').text).toContain('disabled');
  });
});

describe('/mcp refresh <name>', () => {
  it('looks at that server again and shows its state', async () => {
    const { text, refreshed, restarted } = run([view('a b', { status: {} }), view('other', {})], 'refresh  a b');
    expect(await text).toBe('a b: not started, 2 tools');
    expect(refreshed).toEqual(['a b']);
    expect(restarted).toEqual([]);
  });
});
