/** The pages that list options, limits and codes say what the code says. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type CallOptions,
  DEFAULT_LIMITS,
  ERROR_CODES,
  type ExtensionHostOptions,
  type McpOptions,
  type McpServerOptions,
  type SessionOptions,
} from '../../../src/host/index.ts';
import { PLAYWRIGHT_VARIABLES } from '../../../src/shared/mcp-environment.ts';
import { parseMcpOptions } from '../../../src/shared/mcp-options.ts';
import type { PlaywrightOptions } from '../../../src/shared/playwright-preset.ts';

const page = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');

/** The rows of the first table behind a heading or a line: cells without backticks, by the first one. */
function tableAfter(text: string, line: string): Map<string, readonly string[]> {
  const lines = text.split('\n');
  const start = lines.indexOf(line);
  expect(start, `the page has no line ${line}`).toBeGreaterThanOrEqual(0);
  const first = lines.findIndex((row, i) => i > start && row.startsWith('| `'));
  const last = lines.findIndex((row, i) => i > first && !row.startsWith('|'));
  const rows = lines.slice(first, last === -1 ? undefined : last).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
  );
  return new Map(rows.map(([name = '', ...cells]) => [name, cells]));
}

const configuration = page('configuration.md');
const names = (line: string) => [...tableAfter(configuration, line).keys()];
const keys = <T>(all: Record<keyof Required<T> & string, true>) => Object.keys(all);

// These compile only while they name exactly the options there are.
const hostOptions = keys<ExtensionHostOptions>({
  agentDir: true,
  extensions: true,
  extensionDirs: true,
  watch: true,
  ceiling: true,
  builtinTools: true,
  secrets: true,
  hostEnv: true,
  spawnPolicy: true,
  approve: true,
  logger: true,
  limits: true,
});
const mcpOptions = keys<McpOptions>({
  servers: true,
  playwright: true,
  activationWaitSeconds: true,
  maxProcesses: true,
  environment: true,
});
const serverOptions = keys<McpServerOptions>({
  command: true,
  args: true,
  cwd: true,
  env: true,
  toolPrefix: true,
  enabled: true,
  parallel: true,
  scope: true,
  startupTimeoutSeconds: true,
  callTimeoutSeconds: true,
  maxCallSeconds: true,
  idleTimeoutSeconds: true,
  shutdownTimeoutSeconds: true,
  stopTool: true,
  stderrLevel: true,
  promptSection: true,
  tools: true,
  type: true,
});
const playwrightOptions = keys<PlaywrightOptions>({
  enabled: true,
  headless: true,
  browser: true,
  extraArgs: true,
  package: true,
  command: true,
  executablePath: true,
});
const sessionOptions = keys<SessionOptions>({
  id: true,
  cwd: true,
  timeZone: true,
  activeTools: true,
  ui: true,
  onSampling: true,
  signal: true,
});
const callOptions = keys<CallOptions>({ signal: true, onProgress: true, timeoutMs: true, expectEpoch: true });

describe('docs/configuration.md', () => {
  test.each([
    ['`new ExtensionHost(options)`', hostOptions],
    ['## The MCP extension', mcpOptions],
    ['### A server', serverOptions],
    ['### The browser preset', playwrightOptions],
    ['`host.openSession(options)`', sessionOptions],
    ['`session.callTool(call, options)`', callOptions],
    ['## Limits', Object.keys(DEFAULT_LIMITS)],
  ])('lists every option behind "%s", and no other', (line, options) => {
    expect(names(line)).toEqual(options);
  });

  test('has the default of every limit', () => {
    const written = [...tableAfter(configuration, '## Limits')].map(([name, [value]]) => [name, value]);
    expect(written).toEqual(Object.entries(DEFAULT_LIMITS).map(([name, value]) => [name, JSON.stringify(value)]));
  });

  test('has the default of every option of a server, and knows each', () => {
    const { config, problems } = parseMcpOptions({ servers: { demo: { command: 'x' } } });
    expect(problems).toEqual([]);
    const defaults: Record<string, unknown> = { ...config.servers[0] };
    for (const [name, [, value]] of tableAfter(configuration, '### A server')) {
      if (value === '–') continue;
      const inMs = name.replace(/Seconds$/, 'Ms');
      const actual = inMs === name ? defaults[name] : Number(defaults[inMs]) / 1000;
      expect([name, value]).toEqual([name, JSON.stringify(actual)]);
    }
    const all = Object.fromEntries(serverOptions.map((name) => [name, Symbol('wrong')]));
    expect(parseMcpOptions({ servers: { demo: all } }).problems.join()).not.toContain('unknown key');
  });

  test('has the defaults and the variables of the preset and of the extension', () => {
    const { config } = parseMcpOptions({});
    const preset = tableAfter(configuration, '### The browser preset');
    for (const [name, [, value]] of preset) {
      expect([name, value]).toEqual([name, JSON.stringify(config.playwright[name as keyof typeof config.playwright])]);
    }
    const variables = [...preset].flatMap(([name, [, , variable]]) => (variable === '' ? [] : [[variable, name]]));
    expect(Object.fromEntries(variables)).toEqual(PLAYWRIGHT_VARIABLES);
    const extension = tableAfter(configuration, '## The MCP extension');
    expect(extension.get('maxProcesses')?.[1]).toBe(String(config.maxProcesses));
    expect(extension.get('environment')?.[1]).toBe(String(config.environment));
    expect(extension.get('activationWaitSeconds')?.[1]).toBe(String((config.activationWaitMs ?? 0) / 1000));
  });
});

describe('docs/errors.md', () => {
  test('has every code, in the order of the code, with a cause and what to do', () => {
    const table = tableAfter(page('errors.md'), '# Errors');
    expect([...table.keys()]).toEqual([...ERROR_CODES]);
    expect([...table].filter(([, [cause, mend]]) => !cause || !mend)).toEqual([]);
  });
});
