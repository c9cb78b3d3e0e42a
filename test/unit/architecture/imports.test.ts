/**
 * The third net around the rooms of src/ (the others: project references and lint rules, tested in
 * test/integration/room-nets.test.ts). It counts, so that no net can go empty: a renamed folder shows as a count of 0.
 */
import { describe, expect, test } from 'vitest';
import { dependencyTable } from './dependency-table.ts';
import { importsOf, type Room, roomOf, type SourceImport, sourceFiles, sourceImports } from './source-imports.ts';

/** Which of our rooms each room may import from. A red test below means a wall was crossed, or this table has to be argued about. */
const ALLOWED: Readonly<Record<Room, readonly Room[]>> = {
  shared: ['shared'],
  host: ['host', 'shared'],
  worker: ['worker', 'worker/sandbox', 'shared'],
  'worker/mcp': ['worker/mcp', 'shared'],
  'worker/proxy': ['worker/proxy', 'shared'],
  'worker/sandbox': ['worker/sandbox', 'shared'],
  'worker/programs': ['worker/programs', 'shared'],
};

/** The only file of the main thread that may start a process. */
const GUARD = 'host/thread/process-guard.ts';

const show = (found: SourceImport) => `${found.from} → ${found.to ?? '(computed)'}`;
const ours = (from: Room, to: Room) =>
  sourceImports.filter(
    (found) => found.kind === 'ours' && roomOf(found.from) === from && roomOf(found.to ?? '') === to,
  );
const libraries = (from: Room, to: string) =>
  sourceImports.filter((found) => roomOf(found.from) === from && found.to === to);
const files = (room: Room) => sourceFiles.filter((file) => roomOf(file) === room);

describe('rooms', () => {
  test('every file of src/ is in a room', () => {
    expect(sourceFiles.filter((file) => roomOf(file) === undefined)).toEqual([]);
  });

  test('no import crosses a wall', () => {
    const crossing = sourceImports.filter(({ kind, from, to = '' }) => {
      const [here, there] = [roomOf(from), roomOf(to)];
      return kind === 'ours' && (here === undefined || there === undefined || !ALLOWED[here].includes(there));
    });
    expect(crossing.map(show)).toEqual([]);
  });

  test.each(['shared', 'host', 'worker', 'worker/mcp', 'worker/sandbox'] as const)('%s is not empty', (room) => {
    expect(files(room).length).toBeGreaterThan(0);
  });

  test.each([
    ['host', 'shared'],
    ['worker', 'shared'],
    ['worker/mcp', 'shared'],
    ['worker', 'worker/sandbox'],
    ['worker/sandbox', 'shared'],
    ['worker/sandbox', 'worker/sandbox'],
    ['host', 'host'],
    ['worker', 'worker'],
    ['worker/mcp', 'worker/mcp'],
  ] as const)('%s imports from %s', (from, to) => {
    expect(ours(from, to).length).toBeGreaterThan(0);
  });

  test.each([
    ['host', 'worker'],
    ['host', 'worker/mcp'],
    ['worker', 'host'],
    ['worker/mcp', 'host'],
    ['worker/mcp', 'worker'],
    ['worker', 'worker/mcp'],
    ['worker/sandbox', 'worker'],
    ['worker/sandbox', 'worker/mcp'],
    ['host', 'worker/sandbox'],
    ['shared', 'host'],
    ['shared', 'worker'],
  ] as const)('%s imports nothing from %s', (from, to) => {
    expect(ours(from, to).map(show)).toEqual([]);
  });

  test('worker/mcp is no deeper than the lint rules reach', () => {
    expect(sourceFiles.filter((file) => file.startsWith('worker/mcp/') && file.split('/').length > 5)).toEqual([]);
  });
});

describe('libraries', () => {
  test('are imported only by the rooms that docs/dependencies.md names', () => {
    const refused = sourceImports.filter(({ kind, from, to }) => {
      if (kind !== 'package') return false;
      const rooms = dependencyTable.find((row) => row.name === to)?.rooms ?? [];
      // `worker` does not include `worker/mcp`, while `host` includes `host/thread`.
      return !rooms.some((room) => from.startsWith(`${room}/`) && roomOf(`${room}/x`) === roomOf(from));
    });
    expect(refused.map(show)).toEqual([]);
  });

  // MCP-01 MCP-02
  test.each(['shared', 'host', 'worker'] as const)('the MCP SDK is not imported by %s', (room) => {
    expect(libraries(room, '@modelcontextprotocol/sdk').map(show)).toEqual([]);
  });

  test.each([
    ['worker/mcp', '@modelcontextprotocol/sdk'],
    ['host', 'comlink'],
    ['worker', 'comlink'],
    ['shared', 'zod'],
  ] as const)('%s imports %s', (room, library) => {
    expect(libraries(room, library).length).toBeGreaterThan(0);
  });

  test('shared imports nothing of Node', () => {
    expect(sourceImports.filter(({ kind, from }) => kind === 'node' && roomOf(from) === 'shared').map(show)).toEqual(
      [],
    );
  });

  test('on the main thread nothing but the guard may start a process', () => {
    const starting = libraries('host', 'node:child_process').map((found) => found.from);
    expect(starting.filter((file) => file !== GUARD)).toEqual([]);
  });

  test('only the extension loader imports what it computes', () => {
    const computed = sourceImports.filter(({ kind }) => kind === 'computed');
    expect(computed.filter(({ from }) => from !== 'worker/extension-loader.ts').map(show)).toEqual([]);
  });
});

describe('the reader of imports', () => {
  test('sees every form an import can have', () => {
    const source = `
      import type { A } from './a.ts';
      import 'node:fs';
      export * from '../host/b.ts';
      export type { C } from '@scope/name/deep.js';
      type D = import('plain').D;
      const e = import('./e.ts');
      const f = import(e);
      const g = require('jiti/register');
      export { f as h };
    `;
    expect(importsOf(source, 'shared/x.ts').map(({ to, kind }) => [to, kind])).toEqual([
      ['shared/a.ts', 'ours'],
      ['node:fs', 'node'],
      ['host/b.ts', 'ours'],
      ['@scope/name', 'package'],
      ['plain', 'package'],
      ['shared/e.ts', 'ours'],
      [undefined, 'computed'],
      ['jiti', 'package'],
    ]);
  });

  test('knows the innermost room', () => {
    expect(['worker/mcp/extension.ts', 'worker/entry.ts', 'hosted/x.ts', '../package.json'].map(roomOf)).toEqual([
      'worker/mcp',
      'worker',
      undefined,
      undefined,
    ]);
  });
});
