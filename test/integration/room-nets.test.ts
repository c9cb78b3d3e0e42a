/**
 * The walls between the rooms of src/ have three nets: project references, lint rules per folder, and the count in
 * test/unit/architecture. Here the first two get offending files, so that a net that no longer catches shows. A red test
 * means: the configuration lets through what CONTRIBUTING.md forbids.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeWorkspace } from '../support/workspace.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A folder with the repository's configuration and nothing but `files` in it. */
function project(files: Record<string, string>): string {
  const folder = makeWorkspace('rooms');
  const configuration = ['package.json', 'biome.json', 'tsconfig.base.json'];
  for (const name of [...configuration, ...['shared', 'host', 'worker'].map((room) => `src/${room}/tsconfig.json`)]) {
    cpSync(join(ROOT, name), join(folder, name));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function run(folder: string, program: string, args: readonly string[]): string {
  return spawnSync(process.execPath, [join(ROOT, 'node_modules', program), ...args], { cwd: folder, encoding: 'utf8' })
    .stdout;
}

/** The files that `noRestrictedImports` refuses. */
function refusedByLint(folder: string): string[] {
  const args = ['lint', '--only=style/noRestrictedImports', '--reporter=json', '--max-diagnostics=none', 'src'];
  const report = JSON.parse(run(folder, '@biomejs/biome/bin/biome', args)) as {
    diagnostics: { location: { path: string } }[];
  };
  return [...new Set(report.diagnostics.map((diagnostic) => diagnostic.location.path))].sort();
}

/** A file of its own for each import: [folder or file, specifier]. */
function importing(cases: readonly (readonly [string, string])[], write: (specifier: string) => string) {
  return Object.fromEntries(
    cases.map(([place, specifier], index) => [
      place.endsWith('.ts') ? place : `${place}/file-${index}.ts`,
      write(specifier),
    ]),
  );
}

const FORBIDDEN = [
  ['src/shared', '../host/session.ts'],
  ['src/shared', '../worker/runtime.ts'],
  ['src/shared', 'node:fs'],
  ['src/shared', 'node:fs/promises'],
  ['src/shared', 'comlink'],
  ['src/shared', 'pino'],
  ['src/host', '../worker/runtime.ts'],
  ['src/host', '../worker/mcp/extension.ts'],
  ['src/host', '@modelcontextprotocol/sdk/types.js'],
  ['src/host', 'jiti'],
  ['src/host', 'node:child_process'],
  ['src/host/thread', '../../worker/runtime.ts'],
  ['src/host/thread', 'node:child_process'],
  ['src/host/cli/view', '@modelcontextprotocol/sdk/client/index.js'],
  ['src/host/thread/process-guard.ts', '../../worker/runtime.ts'],
  ['src/worker', '../host/session.ts'],
  ['src/worker', './mcp/extension.ts'],
  ['src/worker', '@modelcontextprotocol/sdk/types.js'],
  ['src/worker/programs', '../../host/session.ts'],
  ['src/worker/mcp', '../runtime.ts'],
  ['src/worker/mcp', '../sandbox/engine.ts'],
  ['src/worker/mcp', '../../host/session.ts'],
  ['src/worker/mcp', 'comlink'],
  ['src/worker/mcp', 'pino'],
  ['src/worker/mcp/connection', '../../runtime.ts'],
  ['src/worker/mcp/connection', '../../proxy/server.ts'],
  ['src/worker/mcp/connection', '../../../host/session.ts'],
  ['src/worker/mcp/connection', 'comlink'],
  ['src/worker/mcp/connection/wire', '../../../runtime.ts'],
  ['src/worker/mcp/connection/wire', '../../../programs/demo.ts'],
  ['src/worker/mcp/connection/wire', '../../../../host/session.ts'],
  ['src/worker/mcp/connection/wire', 'pino'],
] as const;

const ALLOWED = [
  ['src/shared', './tool.ts'],
  ['src/shared', 'zod'],
  ['src/host/thread', '../../shared/tool.ts'],
  ['src/host/thread', 'comlink'],
  ['src/host/thread/process-guard.ts', 'node:child_process'],
  ['src/worker', '../shared/tool.ts'],
  ['src/worker', 'node:fs'],
  ['src/worker/mcp', '../../shared/tool.ts'],
  ['src/worker/mcp', './config/entries.ts'],
  ['src/worker/mcp/connection', '../config/entries.ts'],
  ['src/worker/mcp/connection', '../extension.ts'],
  ['src/worker/mcp/connection', '@modelcontextprotocol/sdk/types.js'],
  ['src/worker/mcp/connection/wire', '../../config/entries.ts'],
  ['src/worker/mcp/connection/wire', '../../../../shared/tool.ts'],
  ['src/worker/mcp/connection/wire', 'node:child_process'],
] as const;

describe('lint rules per folder', () => {
  const forms = {
    'a static import': (specifier: string) => `import * as it from '${specifier}';\nexport const x = it;\n`,
    'a type import': (specifier: string) => `import type * as it from '${specifier}';\nexport type X = typeof it;\n`,
    'a re-export': (specifier: string) => `export * from '${specifier}';\n`,
    'a dynamic import': (specifier: string) => `export const x = import('${specifier}');\n`,
  };
  for (const [name, write] of Object.entries(forms)) {
    test(`refuse ${name} over a wall, at every depth`, () => {
      const files = importing(FORBIDDEN, write);
      expect(refusedByLint(project(files))).toEqual(Object.keys(files).sort());
    });
  }

  test('let through what is allowed', () => {
    expect(refusedByLint(project(importing(ALLOWED, forms['a static import'])))).toEqual([]);
  });
});

describe('project references', () => {
  const compile = (files: Record<string, string>) =>
    run(project(files), 'typescript/bin/tsc', ['-b', 'src/worker', 'src/host', '--pretty', 'false']);
  const rooms = {
    'src/shared/tool.ts': 'export const tool = 1;\n',
    'src/host/session.ts': "import { tool } from '../shared/tool.ts';\nexport const session = tool;\n",
    'src/worker/runtime.ts':
      "import { readFileSync } from 'node:fs';\nimport { tool } from '../shared/tool.ts';\nexport const runtime = [tool, readFileSync];\n",
  };

  test('compile what is allowed', () => {
    expect(compile(rooms)).toBe('');
  });

  test('refuse host → worker, worker → host and shared → either', () => {
    const output = compile({
      ...rooms,
      'src/host/bad.ts': "export { runtime } from '../worker/runtime.ts';\n",
      'src/worker/bad.ts': "export { session } from '../host/session.ts';\n",
    });
    expect(output).toMatch(/^src\/host\/bad\.ts.*error TS(6059|6307)/m);
    expect(output).toMatch(/^src\/worker\/bad\.ts.*error TS(6059|6307)/m);
    expect(compile({ ...rooms, 'src/shared/bad.ts': "export { session } from '../host/session.ts';\n" })).toMatch(
      /^src\/shared\/bad\.ts.*error TS(6059|6307)/m,
    );
  });

  test('refuse Node and its globals in shared', () => {
    const output = compile({
      ...rooms,
      'src/shared/bad.ts': "import { readFileSync } from 'node:fs';\nexport const x = readFileSync;\n",
      'src/shared/worse.ts': 'export const x = process.pid;\n',
    });
    expect(output).toMatch(/^src\/shared\/bad\.ts.*error TS2591/m);
    expect(output).toMatch(/^src\/shared\/worse\.ts.*error TS2591/m);
  });
});
