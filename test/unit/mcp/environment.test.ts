import { describe, expect, it } from 'vitest';
import { applyEnvironment } from '../../../src/shared/mcp-environment.ts';
import type { McpOptions } from '../../../src/shared/mcp-options.ts';
import { shellWords } from '../../../src/shared/shell-words.ts';

const apply = (env: Readonly<Record<string, string>>, options: McpOptions = {}) =>
  applyEnvironment(options, (name) => env[name]);

// MCP-22 MCP-23
describe('the environment of the preset', () => {
  it('fills in what the options leave open', () => {
    const { options, problems } = apply({
      PLAYWRIGHT_ENABLED: 'true',
      PLAYWRIGHT_HEADLESS: '0',
      PLAYWRIGHT_BROWSER: 'firefox',
      PLAYWRIGHT_EXTRA_ARGS: '--device "iPhone 15" --no-sandbox',
      PLAYWRIGHT_COMMAND: 'playwright-mcp',
      PLAYWRIGHT_EXECUTABLE_PATH: '/usr/bin/chromium',
    });
    expect(problems).toEqual([]);
    expect(options.playwright).toEqual({
      enabled: true,
      headless: false,
      browser: 'firefox',
      extraArgs: ['--device', 'iPhone 15', '--no-sandbox'],
      command: 'playwright-mcp',
      executablePath: '/usr/bin/chromium',
    });
  });

  it('loses to the options, an explicit "enabled": false too', () => {
    const env = { PLAYWRIGHT_ENABLED: 'true', PLAYWRIGHT_BROWSER: 'firefox', PLAYWRIGHT_HEADLESS: 'perhaps' };
    const { options, problems } = apply(env, { playwright: { enabled: false, headless: true, browser: 'msedge' } });
    expect(options.playwright).toEqual({ enabled: false, headless: true, browser: 'msedge' });
    expect(problems).toEqual([]);
  });

  it('counts empty variables as unset', () => {
    const options: McpOptions = { servers: {} };
    expect(apply({ PLAYWRIGHT_ENABLED: '', PLAYWRIGHT_EXTRA_ARGS: '  ' }, options).options).toBe(options);
  });

  it('lists an odd boolean and an open quote', () => {
    const { problems } = apply({ PLAYWRIGHT_ENABLED: 'maybe', PLAYWRIGHT_EXTRA_ARGS: `--device "iPhone` });
    expect(problems).toEqual([
      'PLAYWRIGHT_ENABLED: must be true or false',
      'PLAYWRIGHT_EXTRA_ARGS: a quote in it is left open',
    ]);
  });

  it('leaves a preset that is no object to the check of the options', () => {
    const options = { playwright: 7 } as unknown as McpOptions;
    expect(apply({ PLAYWRIGHT_ENABLED: 'true' }, options)).toEqual({ options, problems: [] });
  });
});

describe('words of a line', () => {
  it.each([
    ['', []],
    ['  a   b ', ['a', 'b']],
    [`'a b' "c d"e`, ['a b', 'c de']],
    [`a\\ b '\\' "\\"" "\\x"`, ['a b', '\\', '"', '\\x']],
    [`""`, ['']],
    ['a\\', ['a\\']],
  ])('%s', (line, words) => {
    expect(shellWords(line)).toEqual(words);
  });

  it.each([`"a`, `'a`, `a"b c`])('%s has an open quote', (line) => {
    expect(shellWords(line)).toBeUndefined();
  });
});
