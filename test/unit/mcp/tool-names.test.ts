import { describe, expect, it } from 'vitest';
import { exposedNames, safeName } from '../../../src/worker/mcp/catalog/tool-names.ts';

/** A small generator, so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

// MCP-37
describe('exposed names', () => {
  it.each([
    ['browser_navigate', 'browser_navigate'],
    ['weird.name/x', 'weird_name_x'],
    ['a b', 'a_b'],
    ['größe', 'gr__e'],
    ['查询2', '__2'],
    ['🚀go', '_go'],
    ['-lead', '-lead'],
    ['Read', 'Read'],
    ['__proto__', '__proto__'],
    ['\ud800', '_'],
    ['', 'tool'],
  ])('make %j %j', (name, exposed) => {
    expect(safeName('', name)).toBe(exposed);
  });

  it('begin with the prefix and are cut to 48 characters', () => {
    expect(safeName('gh_', 'issue.read')).toBe('gh_issue_read');
    expect(safeName('gh_', '')).toBe('gh_');
    expect(safeName('gh_', 'x'.repeat(60))).toBe(`gh_${'x'.repeat(45)}`);
    expect(exposedNames('', ['y'.repeat(60), 'y'.repeat(61)])).toEqual(['y'.repeat(48), `${'y'.repeat(46)}_2`]);
  });

  it('get a number when two would be equal', () => {
    expect(exposedNames('', ['a.b', 'a_b', 'a/b'])).toEqual(['a_b', 'a_b_2', 'a_b_3']);
    expect(exposedNames('', ['a.b', 'a_b_2', 'a_b'])).toEqual(['a_b', 'a_b_2', 'a_b_3']);
    expect(exposedNames('', ['', '.', 'tool', '_'])).toEqual(['tool', '_', 'tool_2', '__2']);
    expect(exposedNames('', ['toString', 'constructor', 'hasOwnProperty', '__proto__'])).toEqual([
      'toString',
      'constructor',
      'hasOwnProperty',
      '__proto__',
    ]);
  });

  it('are distinct, safe and the same every time, whatever the names are', () => {
    const alphabet = ['a', 'b', '_', '2', '.', '/', ' ', 'ß', '🚀', '\ud83d', '-', '\n'];
    for (let seed = 1; seed <= 300; seed++) {
      const next = random(seed);
      const pick = () => alphabet[Math.floor(next() * alphabet.length)] ?? 'a';
      const names = Array.from({ length: 1 + Math.floor(next() * 60) }, () =>
        Array.from({ length: Math.floor(next() * (seed % 5 === 0 ? 60 : 4)) }, pick).join(''),
      );
      const prefix = ['', 'gh_', 'x'.repeat(50)][seed % 3] ?? '';
      const exposed = exposedNames(prefix, structuredClone(names));
      expect(exposed).toHaveLength(names.length);
      expect(new Set(exposed).size).toBe(names.length);
      for (const name of exposed) expect(name).toMatch(/^[A-Za-z0-9_-]{1,48}$/);
      expect(exposedNames(prefix, structuredClone(names))).toEqual(exposed);
      // What comes later never changes an earlier name.
      expect(exposed.slice(0, 5)).toEqual(exposedNames(prefix, names.slice(0, 5)));
    }
  });

  it('cost little when thousands share their first 48 characters', () => {
    const exposed = exposedNames(
      '',
      Array.from({ length: 2000 }, (_, i) => `${'n'.repeat(48)}${i}`),
    );
    expect(new Set(exposed).size).toBe(2000);
    expect(exposed.at(-1)).toBe(`${'n'.repeat(43)}_2000`);
  });
});
