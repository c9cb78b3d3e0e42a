import { describe, expect, test } from 'vitest';
import { familyOf, type ProcessStat, parseProcessStat } from '../../../src/shared/process-stat.ts';

const line = (pid: number, name: string, state: string, ids: string, start: number) =>
  `${pid} (${name}) ${state} ${ids} 0 -1 4194304 115 0 0 0 0 0 0 0 20 0 1 0 ${start} 3133440 415 18446744073709551615 1 1`;

describe('a line of /proc/<pid>/stat', () => {
  test.each(['sh', 'a) R 1 1 1 (b', 'two words', ') ', 'line\nbreak'])(
    'is read whatever the program is called: %j',
    (name) => {
      expect(parseProcessStat(line(42, name, 'S', '7 42 42', 252801))).toEqual({
        pid: 42,
        parent: 7,
        group: 42,
        session: 42,
        start: 252801,
        zombie: false,
      });
    },
  );

  test('tells of a zombie', () => {
    expect(parseProcessStat(line(42, 'sh', 'Z', '7 42 42', 1))?.zombie).toBe(true);
  });

  test.each(['', '42', '42 (sh', 'x (sh) S 1 1 1'])('that is none gives nothing: %j', (text) => {
    expect(parseProcessStat(text)).toBeUndefined();
  });
});

describe('a family', () => {
  const process = (pid: number, parent: number, group: number, session = group): ProcessStat => ({
    pid,
    parent,
    group,
    session,
    start: 1,
    zombie: false,
  });
  const all = [
    process(1, 0, 1),
    process(10, 1, 10),
    process(20, 10, 10),
    process(21, 20, 10),
    // An orphan in the group of a process that is gone, one in a session, and strangers in the host's own group.
    process(30, 1, 25),
    process(40, 1, 41, 25),
    process(50, 10, 10),
  ];
  const family = (...roots: number[]) => familyOf(all, new Set(roots)).map(({ pid }) => pid);

  test('is what the roots started, however deep', () => {
    expect(family(20)).toEqual([20, 21]);
  });

  test('has the members of groups and sessions whose leader is among them, gone or not', () => {
    expect(family(25)).toEqual([30, 40]);
  });

  test('of nothing is nothing', () => {
    expect(family()).toEqual([]);
  });
});
