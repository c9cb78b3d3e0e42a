import { describe, expect, it } from 'vitest';
import { ExtensionHostError } from '../../../src/shared/errors.ts';
import type {
  CommandDefinition,
  ExtensionApi,
  SessionShutdownEvent,
  ToolDefinition,
} from '../../../src/shared/extension-api.ts';
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts';
import { DEFAULT_LIMITS } from '../../../src/shared/limits.ts';
import type { McpOptions, McpServerOptions } from '../../../src/shared/mcp-options.ts';
import type { Failure, ToolSource } from '../../../src/shared/tool.ts';
import type { Catalog } from '../../../src/worker/mcp/catalog/catalog.ts';
import activate from '../../../src/worker/mcp/extension.ts';

/** What the host's cache holds for a server: a catalogue, a failure, or something that comes later. */
type Cached = Catalog | Error | Promise<Catalog>;

/**
 * The host's side of one session, in memory. Its cache knows every catalogue already, so that no server is ever started;
 * what a thread and its processes do is tested with real ones.
 */
class FakeHost {
  readonly tools: ToolDefinition[] = [];
  readonly failures: Omit<Failure, 'extension'>[] = [];
  readonly warnings: string[] = [];
  readonly dropped: string[] = [];
  readonly commands = new Map<string, CommandDefinition>();
  readonly timeouts = new Map<string, number | undefined>();
  readonly handlers = new Map<string, (event: never) => unknown>();
  readonly #cached: Map<string, Cached[]>;
  readonly #options: unknown;
  readonly #builtIns: readonly string[];

  constructor(options: unknown, cached: Readonly<Record<string, Cached | Cached[]>>, builtIns: readonly string[] = []) {
    this.#options = options;
    this.#cached = new Map(
      Object.entries(cached).map(([name, value]) => [name, Array.isArray(value) ? value : [value]]),
    );
    this.#builtIns = builtIns;
  }

  get names(): string[] {
    return this.tools.map((tool) => tool.name);
  }

  async open(): Promise<this> {
    await activate(this.#api());
    return this;
  }

  async shutDown(event: SessionShutdownEvent): Promise<void> {
    await this.handlers.get('session_shutdown')?.(event as never);
  }

  mcp(args = ''): Promise<string> | string | undefined {
    return this.commands.get('mcp')?.handler(args, undefined as never);
  }

  #api(): ExtensionApi {
    const ignore = (): void => {};
    const source = (name: string): { name: string; source: ToolSource } => ({
      name,
      source: { kind: 'built-in', extension: 'host' },
    });
    return {
      options: structuredClone(this.#options) as JsonObject,
      settings: {},
      agentDir: '/nowhere',
      sessionId: 's',
      limits: DEFAULT_LIMITS,
      logger: {
        debug: ignore,
        info: ignore,
        error: ignore,
        warn: (_, message) => void this.warnings.push(message ?? ''),
      },
      registerTool: (tool) => {
        this.tools.push(tool);
        return ignore;
      },
      registerCommand: (name, command) => {
        this.commands.set(name, command);
        return ignore;
      },
      on: (event, handler, options) => {
        this.handlers.set(event, handler as unknown as (event: never) => unknown);
        this.timeouts.set(event, options?.timeoutMs);
        return ignore;
      },
      getAllTools: () => [
        ...this.#builtIns.map(source),
        ...this.tools.map(({ name }) => ({ name, source: { kind: 'extension' as const, extension: 'mcp' } })),
      ],
      getActiveTools: () => [],
      setActiveTools: ignore,
      sendMessage: ignore,
      reportFailure: (failure) => void this.failures.push(structuredClone(failure)),
      processes: { prepare: () => Promise.reject(new Error('no process is started here')), track: ignore },
      env: { get: () => Promise.resolve(undefined) },
      cache: {
        once: async (key) => {
          const answers = this.#cached.get(key.split('/')[1] ?? '') ?? [];
          const answer = await (answers.length > 1 ? answers.shift() : answers[0]);
          if (answer === undefined || answer instanceof Error)
            throw answer ?? new Error(`nothing is cached for ${key}`);
          return structuredClone(answer) as unknown as JsonValue;
        },
        drop: (key) => void this.dropped.push(key),
      },
    };
  }
}

function catalog(server: string, names: readonly string[], more: Partial<Catalog> = {}): Catalog {
  const tools = names.map((name) => ({
    mcpName: name,
    exposedName: name,
    description: `${server} ${name}`,
    parameters: { type: 'object' },
  }));
  return { server, info: {}, tools, skipped: [], ...more };
}

function options(
  servers: Readonly<Record<string, Partial<McpServerOptions>>>,
  more: Partial<McpOptions> = {},
): McpOptions {
  return {
    servers: Object.fromEntries(Object.entries(servers).map(([name, entry]) => [name, { command: 'x', ...entry }])),
    ...more,
  };
}

function later<T>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
} {
  let settle: { resolve: (value: T) => void; reject: (error: Error) => void } | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  if (!settle) throw new Error('unreachable');
  return { promise, ...settle };
}

/** The preset is listed while it is disabled. */
const PRESET_OFF = '\nplaywright: disabled (set PLAYWRIGHT_ENABLED=true)';

const startFailed = (text: string) => new ExtensionHostError('SERVER_START_FAILED', text);
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('opening a session', () => {
  it('registers every tool of every server, in the order of the configuration', async () => {
    const slow = later<Catalog>();
    const opening = new FakeHost(options({ b: {}, A: {}, c: {} }), {
      A: slow.promise,
      b: catalog('b', ['b2', 'b1']),
      c: catalog('c', ['c1']),
    }).open();
    await nextTurn();
    slow.resolve(catalog('A', ['z', 'y']));
    const host = await opening;
    expect(host.names).toEqual(['z', 'y', 'b2', 'b1', 'c1']);
    expect(host.failures).toEqual([]);
  });

  // MCP-07 MCP-53
  it('describes a tool as the catalogue does', async () => {
    const tool = {
      mcpName: 'read.file',
      exposedName: 'x_read_file',
      description: 'Reads.',
      parameters: { type: 'object', properties: { a: {} } },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    };
    const host = await new FakeHost(options({ demo: { toolPrefix: 'x_' }, wide: { parallel: true } }), {
      demo: catalog('demo', [], { tools: [tool] }),
      wide: catalog('wide', ['w']),
    }).open();
    expect(host.tools[0]).toEqual({
      execute: expect.any(Function),
      name: 'x_read_file',
      description: 'Reads.',
      parameters: tool.parameters,
      outputSchema: tool.outputSchema,
      annotations: tool.annotations,
      source: { server: 'demo', tool: 'read.file' },
      executionMode: 'sequential',
    });
    expect(host.tools[1]).toMatchObject({
      name: 'w',
      executionMode: 'parallel',
      source: { server: 'wide', tool: 'w' },
    });
    expect(host.tools[1]).not.toHaveProperty('outputSchema');
  });

  it('refuses bad options with every problem at once', async () => {
    const bad = { servers: { a: { command: '' }, b: { url: 'https://x.invalid' } }, wait: 1 };
    const error: unknown = await new FakeHost(bad, {}).open().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
    for (const piece of ['servers.a.command', 'servers.b.url', 'wait: unknown key'])
      expect(String(error)).toContain(piece);
  });

  // MCP-06
  it('goes on without a server that failed, and says why', async () => {
    const host = await new FakeHost(options({ bad: {}, good: {} }), {
      bad: startFailed('bad MCP server exited with code 1\u001b[2J. Its stderr ends:\nboom'),
      good: catalog('good', ['g']),
    }).open();
    expect(host.names).toEqual(['g']);
    expect(host.failures).toEqual([
      {
        server: 'bad',
        code: 'SERVER_START_FAILED',
        message: 'bad MCP server exited with code 1\\u{1b}[2J. Its stderr ends:\nboom',
      },
    ]);
    expect(await host.mcp()).toBe(
      'bad: failed: bad MCP server exited with code 1\\u{1b}[2J. Its stderr ends:\ngood: not started, 1 tool' +
        PRESET_OFF,
    );
  });

  it('asks nothing of a disabled server', async () => {
    const host = await new FakeHost(options({ off: { enabled: false } }), {}).open();
    expect([host.names, host.failures]).toEqual([[], []]);
    expect(await host.mcp()).toBe(`off: disabled${PRESET_OFF}`);
  });

  it('is no failure of a server to have no tools', async () => {
    const host = await new FakeHost(options({ demo: {} }), { demo: catalog('demo', []) }).open();
    expect(host.failures).toEqual([]);
    expect(await host.mcp()).toBe(`demo: not started, 0 tools${PRESET_OFF}`);
  });

  it('names what was left out of a list', async () => {
    const skipped = [
      { name: 'dup', reason: 'listed twice' },
      { name: '', reason: 'the list was cut' },
      ...Array.from({ length: 30 }, (_, i) => ({ name: `t${i}`, reason: 'bad\nschema' })),
    ];
    const host = await new FakeHost(options({ demo: {} }), { demo: catalog('demo', ['a'], { skipped }) }).open();
    expect(host.names).toEqual(['a']);
    expect(host.failures).toHaveLength(21);
    expect(host.failures[0]).toEqual({
      server: 'demo',
      tool: 'dup',
      code: 'TOOL_QUARANTINED',
      message: 'tool "dup" of MCP server demo is left out: listed twice',
    });
    expect(host.failures[1]).not.toHaveProperty('tool');
    expect(host.failures[2]?.message).toContain('bad\\u{a}schema');
    expect(host.failures[20]?.message).toContain('12 more entries');
  });
});

describe('a name that is taken', () => {
  // MCP-39
  it('is refused when a built-in has it, with a prefix to use instead', async () => {
    const host = await new FakeHost(
      options({ 'my files': {} }),
      { 'my files': catalog('my files', ['read', 'Read', 'other']) },
      ['read'],
    ).open();
    expect(host.names).toEqual(['Read', 'other']);
    expect(host.failures).toEqual([
      {
        server: 'my files',
        tool: 'read',
        code: 'NAME_TAKEN',
        message:
          'tool "read" of MCP server my files is not offered: read is the name of a built-in tool; give my files a toolPrefix, such as "my_files_"',
      },
    ]);
    expect(await host.mcp('my files')).toContain('  read: not offered, a built-in tool has this name');
  });

  // MCP-40
  it('stays with the first server, and the refusal names both', async () => {
    const host = await new FakeHost(options({ beta: {}, alpha: {} }), {
      alpha: catalog('alpha', ['read', '__proto__']),
      beta: catalog('beta', ['read', 'constructor', '__proto__']),
    }).open();
    expect(host.tools.map((tool) => [tool.name, tool.source?.server])).toEqual([
      ['read', 'alpha'],
      ['__proto__', 'alpha'],
      ['constructor', 'beta'],
    ]);
    expect(host.failures.map(({ server, tool, code }) => [server, tool, code])).toEqual([
      ['beta', 'read', 'NAME_TAKEN'],
      ['beta', '__proto__', 'NAME_TAKEN'],
    ]);
    for (const { message } of host.failures) expect(message).toMatch(/\bbeta\b.*\balpha\b.*toolPrefix/);
    expect(await host.mcp()).toBe(`alpha: not started, 2 tools\nbeta: not started, 1 tool${PRESET_OFF}`);
  });
});

describe('a server that is late', () => {
  it('joins when it is listed, and takes no name that is held by then', async () => {
    const slow = later<Catalog>();
    const host = await new FakeHost(options({ a: {}, b: {} }, { activationWaitSeconds: 0.05 }), {
      a: slow.promise,
      b: catalog('b', ['shared', 'b1']),
    }).open();
    expect(host.names).toEqual(['shared', 'b1']);
    expect(host.failures).toEqual([
      { server: 'a', code: 'SERVER_STARTING', message: expect.stringContaining('still starting after 0.05 s') },
    ]);
    expect(await host.mcp()).toBe(`a: starting\nb: not started, 2 tools${PRESET_OFF}`);
    slow.resolve(catalog('a', ['shared', 'a1']));
    await nextTurn();
    expect(host.names).toEqual(['shared', 'b1', 'a1']);
    expect(host.failures[1]).toMatchObject({ server: 'a', tool: 'shared', code: 'NAME_TAKEN' });
  });

  it('fails later when its start does', async () => {
    const slow = later<Catalog>();
    const host = await new FakeHost(options({ a: {} }, { activationWaitSeconds: 0.01 }), { a: slow.promise }).open();
    slow.reject(startFailed('timed out after 60s'));
    await nextTurn();
    expect(host.failures.map(({ code }) => code)).toEqual(['SERVER_STARTING', 'SERVER_START_FAILED']);
    expect(await host.mcp()).toBe(`a: failed: timed out after 60s${PRESET_OFF}`);
  });

  it('offers nothing to a session that has ended', async () => {
    const slow = later<Catalog>();
    const host = await new FakeHost(options({ a: {} }, { activationWaitSeconds: 0.01 }), { a: slow.promise }).open();
    await host.shutDown({ reason: 'quit' });
    slow.resolve(catalog('a', ['a1']));
    await nextTurn();
    expect(host.names).toEqual([]);
    expect(host.failures).toHaveLength(1);
  });
});

describe('a discovery that was ended with another session', () => {
  const ended = new ExtensionHostError('ABORTED', 'the discovery was ended with the last session');

  it('is made once more', async () => {
    const host = await new FakeHost(options({ a: {} }), { a: [ended, catalog('a', ['a1'])] }).open();
    expect(host.names).toEqual(['a1']);
    expect(host.dropped).toEqual([expect.stringMatching(/^catalog\/a\//)]);
  });

  it('is not made a third time', async () => {
    const host = await new FakeHost(options({ a: {} }), { a: [ended, ended] }).open();
    expect(host.failures.map(({ code }) => code)).toEqual(['SERVER_START_FAILED']);
  });
});

describe('/mcp restart', () => {
  it('tries a server again that could not be listed', async () => {
    const host = await new FakeHost(options({ a: {} }), { a: [startFailed('boom'), catalog('a', ['a1'])] }).open();
    expect(host.names).toEqual([]);
    expect(await host.mcp('restart a')).toMatch(/^a: not started, 1 tool\n/);
    expect(host.names).toEqual(['a1']);
    expect(host.dropped).toEqual([expect.stringMatching(/^catalog\/a\/[0-9a-f]{64}$/)]);
  });

  it('keeps the cache of a server that was listed', async () => {
    const host = await new FakeHost(options({ a: {} }), { a: catalog('a', ['a1']) }).open();
    expect(await host.mcp('restart a')).toMatch(/^a: not started, 1 tool\n/);
    expect([host.names, host.dropped]).toEqual([['a1'], []]);
  });
});

describe('the end of a session', () => {
  it('may take as long as the slowest server and two seconds more', async () => {
    const host = await new FakeHost(options({ a: { shutdownTimeoutSeconds: 9 }, b: {} }), {
      a: catalog('a', []),
      b: catalog('b', []),
    }).open();
    expect(host.timeouts.get('session_shutdown')).toBe(11_000);
  });

  it('answers a call that comes behind it, and starts nothing', async () => {
    const host = await new FakeHost(options({ a: {} }), { a: catalog('a', ['a1']) }).open();
    await host.shutDown({ reason: 'quit', timeoutMs: 100 });
    const result = await host.tools[0]?.execute('1', {}, new AbortController().signal, () => {}, {
      sessionId: 's',
      cwd: '/',
    } as never);
    expect(result).toMatchObject({
      isError: true,
      details: { server: 'a', tool: 'a1', outcome: 'not-sent', error: { code: 'SESSION_CLOSED' } },
    });
  });
});
