import { describe, expect, test } from 'vitest';
import { ExtensionHostError } from '../../../src/shared/errors.ts';
import { StartTimeoutError } from '../../../src/worker/mcp/connection/launch/start-deadline.ts';
import { ExitedAtStartError, toStartError } from '../../../src/worker/mcp/connection/launch/start-error.ts';
import { deathText } from '../../../src/worker/mcp/connection/process/death-text.ts';
import { printableLine } from '../../../src/worker/mcp/connection/process/printable-line.ts';
import { SpawnError } from '../../../src/worker/mcp/connection/process/spawn-server.ts';
import { StderrTail } from '../../../src/worker/mcp/connection/process/stderr-tail.ts';
import { headOfWords, withoutFirstWord, withoutLastWord } from '../../../src/worker/mcp/cut-words.ts';
import { seconds } from '../../../src/worker/mcp/seconds.ts';

test('a log record is one line, printable and bounded', () => {
  expect(printableLine('a\nb\u001b[2J', 100)).toBe('a\\u{a}b\\u{1b}[2J');
  expect(printableLine('some words and more', 10)).toBe('some…');
});

describe('a cut before redaction', () => {
  test('takes the whole word with it that it falls into', () => {
    expect(headOfWords('one two three', 13)).toBe('one two three');
    expect(headOfWords('one two three', 10)).toBe('one two…');
    expect(headOfWords('x'.repeat(50), 10)).toBe('…');
    expect([withoutLastWord('a b hal'), withoutLastWord('half')]).toEqual(['a b', '']);
    expect([withoutFirstWord('alf b c'), withoutFirstWord('half')]).toEqual(['b c', '']);
  });
});

describe('the tail of stderr', () => {
  // MCP-43
  test('it holds the last lines, within its bytes, and the unfinished one', () => {
    const tail = new StderrTail(3, 20);
    for (const line of ['one', '', 'two', 'three', 'four']) tail.push(line);
    expect(tail.text()).toBe('two\nthree\nfour');
    expect(tail.text('five')).toBe('three\nfour\nfive');
    expect(tail.text('a line of 18 bytes')).toBe('a line of 18 bytes');
    tail.push('x'.repeat(100));
    expect(tail.text()).toBe('(a line of 100 bytes)');
  });

  test('its control characters are escaped', () => {
    const tail = new StderrTail(3, 100);
    tail.push('\u001b[2J');
    expect(tail.text()).toBe('\\u{1b}[2J');
  });
});

describe('error texts', () => {
  const facts = {
    name: 'demo',
    command: 'npx',
    args: ['-y', 'p'],
    startupTimeoutMs: 1500,
    stderrTail: 'npm: downloading 1/3',
  };

  test('a start that timed out tells the time, the tail and that a download may be the reason', () => {
    const { code, message } = toStartError(new StartTimeoutError('start'), facts);
    expect(code).toBe('SERVER_START_FAILED');
    expect(message).toMatch(
      /^demo MCP server timed out after 1\.5s before it was ready\. .*first start with npx downloads/,
    );
    expect(message).toMatch(/Its stderr ends:\nnpm: downloading 1\/3$/);
  });

  test.each([
    ['/usr/bin/npx', [], true],
    ['uvx', [], true],
    ['bunx', [], true],
    ['npx.cmd', [], true],
    ['pnpm', ['dlx', 'x'], true],
    ['pnpm', ['start'], false],
    ['node', ['npx'], false],
  ])('%s %j may download: %s', (command, args, may) => {
    const { message } = toStartError(new StartTimeoutError('start'), { ...facts, command, args });
    expect(/first start/.test(message)).toBe(may);
  });

  test('a start whose process ended tells how', () => {
    const ended = (code: number | null, signal: string | null) => {
      const report = { code, signal, stderrTail: '' };
      return toStartError(new ExitedAtStartError(report), { ...facts, command: 'node', stderrTail: '' }).message;
    };
    expect(ended(1, null)).toBe('demo MCP server exited with code 1 before it was ready.');
    expect(ended(null, 'SIGSEGV')).toBe('demo MCP server was ended by SIGSEGV before it was ready.');
  });

  test('a spawn that failed tells why; an abort stays an abort', () => {
    const quiet = { ...facts, stderrTail: '' };
    expect(toStartError(new SpawnError('the command is empty'), quiet).message).toBe(
      'demo MCP server could not be started: the command is empty.',
    );
    const aborted = new ExtensionHostError('ABORTED', 'x');
    expect(toStartError(aborted, quiet)).toBe(aborted);
  });

  test('a death tells the cause, the tail, and what happens next', () => {
    expect(deathText({ name: 'demo', preset: null }, { code: 3, signal: null, stderrTail: 'pool exhausted' })).toBe(
      'demo MCP server exited (3): pool exhausted. It restarts on the next call; its state was lost.',
    );
    expect(deathText({ name: 'demo', preset: null }, { code: null, signal: 'SIGKILL', stderrTail: '' })).toBe(
      'demo MCP server exited (SIGKILL). It restarts on the next call; its state was lost.',
    );
  });

  // MCP-52
  test('of the browser preset the browser state is lost', () => {
    const report = { code: 1, signal: null, stderrTail: '' };
    expect(deathText({ name: 'playwright', preset: 'playwright' }, report)).toMatch(/browser state was lost\.$/);
  });

  test('times are told in seconds', () => {
    expect([120_000, 1000, 500, 1234].map(seconds)).toEqual(['120', '1', '0.5', '1.23']);
  });
});
