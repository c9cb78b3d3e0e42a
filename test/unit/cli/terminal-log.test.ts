import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { isLogged, stderrLogger, textLine } from '../../../src/host/cli/terminal-log.ts';

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

describe('stderrLogger', () => {
  it('drops and counts what nobody reads, and says how much when somebody reads again', async () => {
    const chunks: string[] = [];
    let readOn: (() => void) | undefined;
    let reading = false;
    const stderr = new Writable({
      write(chunk: Buffer, _encoding, done) {
        chunks.push(chunk.toString());
        if (reading) done();
        else readOn = done;
      },
    });
    const logger = stderrLogger('info', stderr);
    logger.warn('x'.repeat(1_500_000));
    logger.debug('below the level');
    for (let i = 0; i < 3; i++) logger.info('lost');
    reading = true;
    readOn?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(chunks.slice(1)).toEqual([expect.stringContaining('3 log records dropped: stderr was not read')]);
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
