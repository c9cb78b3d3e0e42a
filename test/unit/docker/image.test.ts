/** No Docker engine runs in these tests: the files are parsed, and compared with what they have to agree with. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { applyEnvironment, PLAYWRIGHT_VARIABLES } from '../../../src/shared/mcp-environment.ts';
import { parseMcpOptions } from '../../../src/shared/mcp-options.ts';
import { PLAYWRIGHT_MCP_VERSION } from '../../../src/shared/playwright-preset.ts';

const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');

/** The instructions of a Dockerfile: continued lines are one, comments are none. */
const instructions = read('Dockerfile')
  .replaceAll(/^\s*#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    return { word, rest };
  });
const lastStage = instructions.slice(instructions.findLastIndex(({ word }) => word === 'FROM'));
const restOf = (word: string) => lastStage.filter((each) => each.word === word).map(({ rest }) => rest);

describe('the version of @playwright/mcp', () => {
  test('is the same in the preset, in the image and in the development dependencies', () => {
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
    expect(restOf('ARG')).toContain(`PLAYWRIGHT_MCP_VERSION=${PLAYWRIGHT_MCP_VERSION}`);
    expect(devDependencies['@playwright/mcp']).toBe(PLAYWRIGHT_MCP_VERSION);
    const { config } = parseMcpOptions({ playwright: { enabled: true } });
    expect(config.playwright.package).toBe(`@playwright/mcp@${PLAYWRIGHT_MCP_VERSION}`);
  });
});

describe('Dockerfile', () => {
  test('has only instructions there are, and no line that is none', () => {
    const known = ['FROM', 'ARG', 'ENV', 'RUN', 'COPY', 'WORKDIR', 'VOLUME', 'USER', 'ENTRYPOINT', 'CMD'];
    for (const { word } of instructions) expect(known).toContain(word);
    for (const word of ['ENTRYPOINT', 'CMD']) expect(JSON.parse(restOf(word)[0] ?? '')).toEqual(expect.any(Array));
  });

  test("installs the package globally, with the Chromium of the package's own playwright, and runs as no root", () => {
    const run = restOf('RUN').join('\n');
    expect(run).toContain('npm install --global --no-audit --no-fund "@playwright/mcp@${PLAYWRIGHT_MCP_VERSION}"');
    expect(run).toMatch(
      /cd "\$\(npm root --global\)\/@playwright\/mcp" && node "[^\n]+\/cli\.js" install --with-deps chromium/,
    );
    expect(restOf('ENV')).toContain('PLAYWRIGHT_BROWSERS_PATH=/opt/ms-playwright');
    expect(restOf('USER')).toEqual(['node']);
    const user = lastStage.findIndex(({ word }) => word === 'USER');
    expect(lastStage.slice(user).map(({ word }) => word)).not.toContain('RUN');
  });

  test('finds the command line of that playwright the way it says, seen from the installed package', () => {
    const from = createRequire(createRequire(import.meta.url).resolve('@playwright/mcp/package.json'));
    expect(existsSync(join(dirname(from.resolve('playwright/package.json')), 'cli.js'))).toBe(true);
  });
});

describe('compose.yaml', () => {
  const { services } = parse(read('compose.yaml')) as { services: Record<string, Record<string, unknown>> };
  const service = services['caldera'] ?? {};
  const environment = service['environment'] as Record<string, string>;
  /** `${NAME:-default}` where no variable is set. */
  const unset = (text = '') => text.replace(/^\$\{\w+:-(.*)\}$/, '$1');

  test('passes every variable of the preset through, and no other', () => {
    expect(Object.keys(environment).sort()).toEqual(Object.keys(PLAYWRIGHT_VARIABLES).sort());
    for (const [name, value] of Object.entries(environment)) expect(value.startsWith(`\${${name}:-`)).toBe(true);
  });

  test('runs the installed server without the sandbox that Docker forbids, with an init and time to save the profile', () => {
    expect(service).toMatchObject({ init: true, stop_grace_period: '20s', stdin_open: true });
    const { options, problems } = applyEnvironment({ playwright: { enabled: true } }, (name) =>
      unset(environment[name]),
    );
    expect(problems).toEqual([]);
    const [server] = parseMcpOptions(options).config.servers;
    expect(server?.command).toBe('playwright-mcp');
    expect(server?.args.at(-1)).toBe('--no-sandbox');
    expect(server?.args).not.toContain('-y');
    expect(Number.parseInt(String(service['stop_grace_period']), 10) * 1000).toBeGreaterThan(
      server?.shutdownTimeoutMs ?? 0,
    );
  });
});
