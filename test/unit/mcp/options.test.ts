import { describe, expect, it } from 'vitest';
import {
  mentionedVariables,
  parseMcpOptions,
  parseSettingsServers,
  presetIsReplaced,
  variablesOfSettings,
} from '../../../src/shared/mcp-options.ts';
import { printable } from '../../../src/shared/printable.ts';

/** Options reach a thread as a structured clone. */
const parse = (options: unknown) => parseMcpOptions(structuredClone(options));
const problemsOf = (options: unknown) => parse(options).problems;
const DEFAULTS = {
  activationWaitMs: 20_000,
  maxProcesses: 64,
  environment: true,
  playwright: {
    enabled: false,
    headless: true,
    browser: 'chromium',
    extraArgs: [],
    package: '@playwright/mcp@0.0.83',
    command: null,
    executablePath: null,
  },
};
const server = (entry: object) => ({ servers: { demo: { command: 'node', ...entry } } });

describe('options of the MCP extension', () => {
  it('fills in every default and turns seconds into ms', () => {
    expect(parse({ servers: { demo: { command: 'node' } } })).toEqual({
      problems: [],
      config: {
        ...DEFAULTS,
        servers: [
          {
            name: 'demo',
            enabled: true,
            command: 'node',
            args: [],
            cwd: null,
            env: {},
            toolPrefix: '',
            parallel: false,
            startupTimeoutMs: 60_000,
            callTimeoutMs: 120_000,
            maxCallMs: 600_000,
            idleTimeoutMs: 1_800_000,
            shutdownTimeoutMs: 5000,
            stderrLevel: 'warn',
            scope: 'session',
            stopTool: null,
            promptSection: null,
            tools: { include: ['*'], exclude: [] },
            preset: null,
          },
        ],
      },
    });
  });

  it('takes every value that is given', () => {
    const entry = {
      command: 'npx',
      args: ['-y', 'a', ''],
      cwd: '${workspace}/x',
      env: { A: '${env:B}', C: null, D: '' },
      toolPrefix: 'gh_-1',
      enabled: false,
      parallel: true,
      startupTimeoutSeconds: 0.5,
      callTimeoutSeconds: 1,
      maxCallSeconds: 2,
      idleTimeoutSeconds: 0,
      shutdownTimeoutSeconds: 3,
      stderrLevel: 'debug',
      scope: 'session',
      stopTool: 'save',
      promptSection: 'Be kind.',
      tools: { include: ['read_*'], exclude: ['read_all'] },
      type: 'stdio',
    };
    const whole = { servers: { 'a b': entry }, activationWaitSeconds: null, maxProcesses: 3, environment: false };
    const { config, problems } = parse(whole);
    expect(problems).toEqual([]);
    expect(config).toMatchObject({ activationWaitMs: null, maxProcesses: 3, environment: false });
    expect(config.servers[0]).toEqual({
      name: 'a b',
      enabled: false,
      command: 'npx',
      args: ['-y', 'a', ''],
      cwd: '${workspace}/x',
      env: { A: '${env:B}', C: null, D: '' },
      toolPrefix: 'gh_-1',
      parallel: true,
      startupTimeoutMs: 500,
      callTimeoutMs: 1000,
      maxCallMs: 2000,
      idleTimeoutMs: 0,
      shutdownTimeoutMs: 3000,
      stderrLevel: 'debug',
      scope: 'session',
      stopTool: 'save',
      promptSection: 'Be kind.',
      tools: { include: ['read_*'], exclude: ['read_all'] },
      preset: null,
    });
  });

  it('means nothing by options that are left out', () => {
    for (const options of [undefined, {}, { servers: {} }, { servers: undefined, activationWaitSeconds: undefined }]) {
      expect(parse(options)).toEqual({ problems: [], config: { ...DEFAULTS, servers: [] } });
    }
    expect(problemsOf(server({ args: undefined, comand: undefined }))).toEqual([]);
  });

  // MCP-27
  it('orders servers by name, case-insensitively and then ordinally', () => {
    const names = ['b', 'B', 'a10', 'A2', 'ä', 'a', 'A'];
    const { config } = parse({ servers: Object.fromEntries(names.map((name) => [name, { command: 'x' }])) });
    expect(config.servers.map(({ name }) => name)).toEqual(['A', 'a', 'a10', 'A2', 'B', 'b', 'ä']);
  });

  // MCP-26
  it('lists every problem at once, each with its path', () => {
    const { problems, config } = parse({
      servers: {
        'a b': { command: ' ', callTimeoutSeconds: 0, comand: 'x' },
        good: { command: 'node' },
        list: [],
        other: { command: 7, args: ['x', 7], env: { A: 1, 'B=C': 'x' }, enabled: 'yes' },
      },
      activationWaitSeconds: 0,
      server: {},
    });
    expect(problems).toEqual([
      'server: unknown key; did you mean "servers"?',
      'servers["a b"].comand: unknown key; did you mean "command"?',
      'servers["a b"].callTimeoutSeconds: must be a positive number of seconds, not 0',
      'servers["a b"].command: must not be empty; give the program to start, such as "npx"',
      'servers.list: must be an object such as { "command": "npx", "args": ["-y", "a-server"] }, not a list',
      'servers.other.enabled: must be true or false, not a string',
      'servers.other.command: must be a string, not a number',
      'servers.other.args[1]: must be a string, not a number',
      'servers.other.env.A: must be a string, or null to remove the variable, not a number',
      'servers.other.env["B=C"]: the name of a variable must not be empty and must not hold "=" or NUL',
      'activationWaitSeconds: must be a positive number of seconds, not 0',
    ]);
    expect(config.servers.map(({ name }) => name)).toEqual(['good']);
  });

  it.each([
    ['timeout', 'callTimeoutSeconds'],
    ['ENV', 'env'],
    ['prefix', 'toolPrefix'],
    ['workingDir', 'toolPrefix'],
    ['arg', 'args'],
    ['startupTimoutSeconds', 'startupTimeoutSeconds'],
  ])('names the nearest known key for %s', (written, meant) => {
    const [problem] = problemsOf(server({ [written]: 1 }));
    expect(problem).toMatch(new RegExp(`^servers\\.demo\\.${written}: unknown key; did you mean "`));
    if (written !== 'workingDir') expect(problem).toContain(`"${meant}"`);
  });

  it.each(['gh.', 'a b', 'ä', 'mcp__x_', 'mcp__', 'a\nb'])('refuses the prefix %j', (toolPrefix) => {
    expect(problemsOf(server({ toolPrefix }))).toEqual([
      expect.stringMatching(/^servers\.demo\.toolPrefix: m(ay|ust)/),
    ]);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', null, 3_000_000])('refuses the timeout %j', (seconds) => {
    const keys = ['startupTimeoutSeconds', 'callTimeoutSeconds', 'maxCallSeconds', 'shutdownTimeoutSeconds'];
    for (const key of keys) {
      expect(problemsOf(server({ [key]: seconds }))).toEqual([
        expect.stringContaining(`servers.demo.${key}: must be `),
      ]);
    }
  });

  // MCP-29
  it('lets only the idle timeout be 0, and never rounds another one to it', () => {
    expect(problemsOf(server({ idleTimeoutSeconds: 0 }))).toEqual([]);
    expect(problemsOf(server({ idleTimeoutSeconds: -1 }))).toHaveLength(1);
    expect(parse(server({ idleTimeoutSeconds: 0.0001 })).config.servers[0]?.idleTimeoutMs).toBe(1);
  });

  it('does not cut a longer call timeout at the default of the longest call', () => {
    expect(parse(server({ callTimeoutSeconds: 900 })).config.servers[0]?.maxCallMs).toBe(900_000);
    expect(parse(server({ callTimeoutSeconds: 900, maxCallSeconds: 60 })).config.servers[0]?.maxCallMs).toBe(60_000);
  });

  it('says that remote servers are not supported yet', () => {
    const [problem, ...more] = problemsOf({ servers: { far: { url: 'https://example.invalid/mcp' } } });
    expect(problem).toMatch(/^servers\.far\.url: .*not supported yet in this version.*stdio/);
    expect(more).toEqual([]);
    expect(problemsOf(server({ headers: {}, auth: {} }))).toEqual([
      'servers.demo.headers: not supported yet in this version; leave it out',
      'servers.demo.auth: not supported yet in this version; leave it out',
    ]);
    expect(problemsOf(server({ type: 'http' }))).toEqual([expect.stringMatching(/^servers\.demo\.type: .*"stdio"/)]);
  });

  it('refuses the workspace in a server of all sessions', () => {
    for (const entry of [{ args: ['a', '${workspace}/x'] }, { cwd: '${workspace}' }, { env: { A: '${workspace}' } }]) {
      expect(problemsOf(server({ scope: 'host', ...entry }))).toEqual([
        expect.stringMatching(/^servers\.demo\.scope: .*no workspace/),
      ]);
      expect(problemsOf(server({ scope: 'session', ...entry }))).toEqual([]);
    }
    expect(parse(server({ scope: 'host' })).config.servers[0]?.scope).toBe('host');
  });

  it.each([
    [{ scope: 'all' }, 'scope: must be one of "session", "host"'],
    [{ stopTool: '' }, 'stopTool: must not be empty'],
    [{ promptSection: 7 }, 'promptSection: must be a string or null'],
    [{ tools: ['a'] }, 'tools: must be an object'],
    [{ tools: { include: 'a' } }, 'tools.include: must be a list of strings'],
    [{ tools: { only: [] } }, 'tools.only: unknown key'],
  ])('refuses %j', (entry, problem) => {
    expect(problemsOf(server(entry))).toEqual([expect.stringContaining(`servers.demo.${problem}`)]);
  });

  it.each([0, 1.5, -1, '64', null])('refuses %j as the number of processes', (maxProcesses) => {
    expect(problemsOf({ maxProcesses })).toEqual([expect.stringContaining('maxProcesses: must be a whole number')]);
  });

  it.each(['', '  ', 'a\u0000b', 'a\nb', 'a\u202eb', ' a', 'x'.repeat(65)])('refuses the server name %j', (name) => {
    const problems = problemsOf({ servers: { [name]: { command: 'node' } } });
    expect(problems).toHaveLength(1);
    // A problem is shown in a terminal.
    expect(problems[0]).toBe(printable(problems[0] ?? ''));
  });

  it('keeps __proto__ as a name of a server and of a variable', () => {
    const { config, problems } = parseMcpOptions(
      JSON.parse('{"servers":{"__proto__":{"command":"x","env":{"__proto__":"v"}}}}'),
    );
    expect(problems).toEqual([]);
    expect(config.servers.map(({ name }) => name)).toEqual(['__proto__']);
    expect(Object.entries(config.servers[0]?.env ?? {})).toEqual([['__proto__', 'v']]);
  });

  it.each([[7], ['x'], [[]], [{ servers: [] }], [{ servers: { a: null } }]])(
    'names what %j should have been',
    (options) => {
      expect(problemsOf(options)).toEqual([expect.stringContaining('must be an object such as')]);
    },
  );

  it('shows no value of an env entry in a problem', () => {
    expect(problemsOf(server({ env: { TOKEN: ['hunter2'], OTHER: { a: 'hunter2' } } })).join()).not.toContain(
      'hunter2',
    );
  });
});

describe('the Playwright preset', () => {
  const argsOf = (playwright: object) =>
    parse({ playwright: { enabled: true, ...playwright } }).config.servers[0]?.args;

  // MCP-15 MCP-16 MCP-17 MCP-18 MCP-19 MCP-20 MCP-21
  it('becomes the server "playwright", pinned, with its files and profile in the workspace', () => {
    const { config, problems } = parse({ servers: { z: { command: 'x' } }, playwright: { enabled: true } });
    expect(problems).toEqual([]);
    expect(config.servers.map(({ name }) => name)).toEqual(['z', 'playwright']);
    expect(config.servers[1]).toMatchObject({
      preset: 'playwright',
      command: 'npx',
      args: [
        ...['-y', '@playwright/mcp@0.0.83', '--headless', '--browser', 'chromium'],
        ...['--output-dir', '${workspace}/browser', '--user-data-dir', '${workspace}/.caldera/browser-profile'],
      ],
      cwd: '${workspace}',
      toolPrefix: '',
      parallel: false,
      startupTimeoutMs: 120_000,
      callTimeoutMs: 120_000,
      shutdownTimeoutMs: 10_000,
      stopTool: 'browser_close',
    });
  });

  it('runs a command of its own without installing anything', () => {
    const { config } = parse({ playwright: { enabled: true, command: 'playwright-mcp', package: 'x' } });
    expect(config.servers[0]).toMatchObject({ command: 'playwright-mcp' });
    expect(config.servers[0]?.args.slice(0, 2)).toEqual(['--headless', '--browser']);
  });

  it('takes browser, window, package, executable and arguments as they are given', () => {
    const args = argsOf({
      headless: false,
      browser: 'firefox',
      package: '@playwright/mcp@9',
      executablePath: '/usr/bin/chromium',
      extraArgs: ['--device', 'iPhone 15'],
    });
    expect(args?.slice(0, 4)).toEqual(['-y', '@playwright/mcp@9', '--browser', 'firefox']);
    expect(args?.slice(-4)).toEqual(['--executable-path', '/usr/bin/chromium', '--device', 'iPhone 15']);
    expect(args).not.toContain('--no-sandbox');
  });

  it('keeps no profile with --isolated', () => {
    expect(argsOf({ extraArgs: ['--isolated'] })).not.toContain('--user-data-dir');
  });

  it('makes way for a server of its name', () => {
    const { config } = parse({ servers: { playwright: { command: 'mine' } }, playwright: { enabled: true } });
    expect(config.servers.map(({ command }) => command)).toEqual(['mine']);
    expect(presetIsReplaced(config)).toBe(true);
  });

  it('is nothing while it is disabled, and its mistakes are named all the same', () => {
    expect(parse({ playwright: {} }).config.servers).toEqual([]);
    expect(problemsOf({ playwright: { headles: true, browser: 7, extraArgs: 'x' } })).toEqual([
      'playwright.headles: unknown key; did you mean "headless"?',
      'playwright.browser: must be a string or null, not a number',
      'playwright.extraArgs: must be a list of strings, not a string',
    ]);
  });
});

describe('servers of settings.json', () => {
  it('come in the order of the file; a bad one harms no other', () => {
    const { servers, bad } = parseSettingsServers({
      mcpServers: { b: { command: 'x' }, broken: { comand: 'y' }, a: { command: 'z', args: 'x' }, A: { command: 'w' } },
    });
    expect(servers.map(({ name }) => name)).toEqual(['b', 'A']);
    expect(bad.map(({ name }) => name)).toEqual(['broken', 'a']);
    expect(bad[0]?.reason).toMatch(
      /mcpServers\.broken\.comand: unknown key; did you mean "command"\?; .*command: is missing/,
    );
  });

  it.each([undefined, null, 7, [], {}, { mcpServers: {} }])('are none in %j', (settings) => {
    expect(parseSettingsServers(settings)).toEqual({ servers: [], bad: [] });
    expect(variablesOfSettings(settings)).toEqual([]);
  });

  it('that are no object are one bad entry', () => {
    expect(parseSettingsServers({ mcpServers: [] })).toMatchObject({ servers: [], bad: [{ name: 'mcpServers' }] });
  });

  it('grant the variables they mention', () => {
    const mcpServers = {
      a: { command: 'x', env: { T: '${env:B}' }, url: 'https://x/${env:U}', headers: { H: 'Bearer ${env:A}' } },
    };
    expect(variablesOfSettings({ mcpServers })).toEqual(['A', 'B', 'U']);
  });
});

describe('the variables that options mention', () => {
  it('are those of env values, each once, sorted', () => {
    const options = {
      servers: {
        b: {
          command: '${env:NOT_HERE}',
          args: ['${env:NOR_HERE}'],
          env: { X: '${env:B}-${env:A}', Y: null, Z: '${workspace}' },
        },
        a: { command: 'x', env: { X: 'Bearer ${env:B}', W: '${env:}', V: '${env:C D}' } },
      },
    };
    expect(mentionedVariables(structuredClone(options))).toEqual(['A', 'B', 'C D']);
  });

  it.each([undefined, null, 7, {}, { servers: 7 }, { servers: { a: 7, b: { env: [] }, c: { env: { A: 7 } } } }])(
    'are none in %j',
    (options) => {
      expect(mentionedVariables(options)).toEqual([]);
    },
  );
});
