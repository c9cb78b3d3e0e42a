import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dependencyTable } from './dependency-table.ts';

const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
};

const versions = (development: boolean) =>
  Object.fromEntries(
    dependencyTable.filter((row) => row.development === development).map((row) => [row.name, row.version]),
  );

describe('docs/dependencies.md', () => {
  test('lists the dependencies of package.json with their versions, and no others', () => {
    expect(versions(false)).toEqual(manifest.dependencies);
    expect(versions(true)).toEqual(manifest.devDependencies);
  });

  test('lists each dependency once, with a reason, and each one that ships with its rooms', () => {
    expect(new Set(dependencyTable.map((row) => row.name)).size).toBe(dependencyTable.length);
    for (const row of dependencyTable) {
      expect(row.reason, `the reason for ${row.name}`).not.toBe('');
      if (!row.development) expect(row.rooms, `the rooms of ${row.name}`).not.toEqual([]);
    }
  });

  test('has each optional peer as a development dependency with a room, and no other peers', () => {
    const peers = dependencyTable.filter((row) => row.development && row.rooms.length > 0);
    const ranges = Object.fromEntries(peers.map((row) => [row.name, `^${row.version}`]));
    expect(ranges).toEqual(manifest.peerDependencies);
    const optional = Object.fromEntries(peers.map((row) => [row.name, { optional: true }]));
    expect(optional).toEqual(manifest.peerDependenciesMeta);
  });

  test('pins every version exactly: npm on Node 20 would pick another one for a range', () => {
    for (const row of dependencyTable) expect(row.version, row.name).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
