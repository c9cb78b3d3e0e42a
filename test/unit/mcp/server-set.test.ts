import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/shared/json.ts';
import { parseMcpOptions } from '../../../src/shared/mcp-options.ts';
import { serverSet } from '../../../src/worker/mcp/config/server-set.ts';
import { promptSections } from '../../../src/worker/mcp/prompt-sections.ts';

const entry = (command: string) => ({ command });
const set = (options: object, mcpServers: JsonObject = {}) =>
  serverSet(parseMcpOptions(options).config, { mcpServers });
const commands = ({ servers }: ReturnType<typeof set>) => servers.map(({ name, command }) => `${name}=${command}`);

// MCP-12 MCP-27
describe('the servers of a session', () => {
  it('are those of the options by name, the preset, then those of the file in its order', () => {
    const all = set(
      { servers: { b: entry('1'), A: entry('2') }, playwright: { enabled: true } },
      { z: entry('3'), c: entry('4') },
    );
    expect(commands(all)).toEqual(['A=2', 'b=1', 'playwright=npx', 'z=3', 'c=4']);
    expect(all).toMatchObject({ bad: [], notes: [], presetIsOff: false });
  });

  it('keep the first source of a name; names that differ in case are two', () => {
    const all = set({ servers: { a: entry('1') } }, { a: entry('2'), A: entry('3') });
    expect(commands(all)).toEqual(['a=1', 'A=3']);
    expect(all.notes).toEqual([expect.stringContaining('server a of settings.json is left out')]);
  });

  it('name a preset that has lost its place, and a disabled one only while nobody has its name', () => {
    const replaced = set({ servers: { playwright: entry('mine') }, playwright: { enabled: true } });
    expect(replaced.notes).toEqual([expect.stringContaining('preset is left out')]);
    expect(set({}).presetIsOff).toBe(true);
    const own = set({}, { playwright: entry('mine') });
    expect([own.presetIsOff, commands(own)]).toEqual([false, ['playwright=mine']]);
  });

  it('tell bad entries, but not those whose name is taken', () => {
    const all = set({ servers: { a: entry('1') } }, { a: { command: 7 }, b: {} });
    expect(all.bad.map(({ name }) => name)).toEqual(['b']);
  });
});

describe('prompt sections', () => {
  it('are those of servers with an active tool', () => {
    const server = (name: string, promptSection: string | null, toolNames: readonly string[]) => ({
      config: { name, promptSection, preset: null },
      toolNames,
    });
    const servers = [
      server('a', 'A', ['x', 'y']),
      server('b', 'B', ['z']),
      server('c', null, ['y']),
      server('d', 'D', []),
    ];
    expect(promptSections(servers, ['y'])).toEqual({ a: 'A' });
  });
});
