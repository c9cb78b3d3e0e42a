import { describe, expect, it } from 'vitest';
import { isLogged, textLine } from '../../../src/host/cli/terminal-log.ts';

describe('textLine', () => {
  it('makes one line for people of a record', () => {
    const record = { level: 'warn', time: 0, extension: 'mcp', server: 'notes', count: 2, msg: 'it stopped' };
    expect(textLine(`${JSON.stringify(record)}\n`)).toMatch(
      /^\d\d:\d\d:\d\d warn {2}mcp: it stopped server=notes count=2\n$/,
    );
  });

  it('lets no control character through to the terminal', () => {
    const record = { level: 'error', time: 0, msg: 'red \u001b[31m\nforged: line', fact: '\u009b' };
    expect(textLine(JSON.stringify(record))).toMatch(/red \\u\{1b\}\[31m\\u\{a\}forged: line fact=\\u\{9b\}\n$/);
  });
});

describe('isLogged', () => {
  it('lets a level and those above it through', () => {
    expect((['debug', 'info', 'warn', 'error'] as const).filter((level) => isLogged(level, 'warn'))).toEqual([
      'warn',
      'error',
    ]);
    expect(isLogged('error', 'silent')).toBe(false);
  });
});
