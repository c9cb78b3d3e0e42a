import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SettingsFile } from '../../../src/host/settings.ts';
import type { JsonObject } from '../../../src/shared/json.ts';
import { waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const open: SettingsFile[] = [];

afterEach(() => {
  for (const file of open.splice(0)) file.close();
});

function settingsIn(folder: string) {
  const changes: JsonObject[] = [];
  const problems: string[] = [];
  const settings = new SettingsFile(folder, {
    onChange: (value) => void changes.push(value),
    onProblem: (text) => void problems.push(text),
  });
  open.push(settings);
  settings.open();
  return { settings, changes, problems, file: join(folder, 'settings.json') };
}

// MCP-24
describe('settings.json', () => {
  it('is read with comments and trailing commas; a key __proto__ is data', () => {
    const folder = makeWorkspace('agent');
    writeFileSync(join(folder, 'settings.json'), '\uFEFF{ // mine\n "mcpServers": { "__proto__": { "a": 1 }, }, }');
    const { settings, problems } = settingsIn(folder);
    expect(Object.keys(settings.current['mcpServers'] as object)).toEqual(['__proto__']);
    expect(problems).toEqual([]);
  });

  it('is {} while there is none, in a folder that is not there yet, and is noticed when it comes', async () => {
    const folder = join(makeWorkspace('agent'), 'later', 'agent');
    const { settings, changes, file } = settingsIn(folder);
    expect(settings.current).toEqual({});
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, '{ "a": 1 }');
    await waitUntil(() => changes.length === 1, 'the change');
    expect(settings.current).toEqual({ a: 1 });
  });

  it('is noticed when it is replaced by a renamed file, and when it goes', async () => {
    const folder = makeWorkspace('agent');
    const { settings, changes, file } = settingsIn(folder);
    for (const n of [1, 2]) {
      writeFileSync(`${file}.new`, JSON.stringify({ n }));
      renameSync(`${file}.new`, file);
      await waitUntil(() => changes.length === n, `change ${n}`);
      expect(settings.current).toEqual({ n });
    }
    rmSync(file);
    await waitUntil(() => changes.length === 3, 'the end of the file');
    expect(settings.current).toEqual({});
  });

  it.each([
    ['{ "a": ', /line 1: this is no JSON/],
    ['[]', /must hold an object, not a list/],
    ['{ "a": 1, "a": 2 }', /stands here twice/],
  ])('that cannot be used (%s) is told once and changes nothing', async (text, problem) => {
    const folder = makeWorkspace('agent');
    writeFileSync(join(folder, 'settings.json'), '{ "good": true }');
    const { settings, changes, problems, file } = settingsIn(folder);
    writeFileSync(file, text);
    await waitUntil(() => problems.length === 1, 'the problem');
    expect(problems[0]).toMatch(problem);
    expect(settings.current).toEqual({ good: true });
    writeFileSync(file, '{ "good": "again" }');
    await waitUntil(() => changes.length === 2, 'the repair');
    expect([settings.current, problems.length]).toEqual([{ good: 'again' }, 1]);
  });

  it('that is a folder is a problem', () => {
    const folder = makeWorkspace('agent');
    mkdirSync(join(folder, 'settings.json'));
    const { settings, problems } = settingsIn(folder);
    expect([settings.current, problems.length]).toEqual([{}, 1]);
  });

  it('is no change when it says the same in other words', async () => {
    const folder = makeWorkspace('agent');
    writeFileSync(join(folder, 'settings.json'), '{"a":1}');
    const { changes, file } = settingsIn(folder);
    writeFileSync(file, '{ /* the same */ "a": 1 }');
    const other = settingsIn(folder);
    writeFileSync(other.file, '{ "a": 2 }');
    await waitUntil(() => changes.length === 2 && other.changes.length === 2, 'the other change');
    expect(changes).toEqual([{ a: 1 }, { a: 2 }]);
  });
});
