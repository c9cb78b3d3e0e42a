/** README and docs are run: what is marked `run` or `extension` behind its language works as it stands there. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ToolDescriptor } from '../../../src/host/index.ts';
import { makeWorkspace } from '../../support/workspace.ts';
import { type Snippet, snippetsOf } from './snippets.ts';

const ROOT = new URL('../../../', import.meta.url);
const NPX = fileURLToPath(new URL('../../fixtures/bin/npx.mjs', import.meta.url));
/** Ends a broken test. */
const PATIENCE = { timeout: 120_000 };

/** Its blocks are the files of one tutorial, which test/integration/sandbox/tutorial.test.ts runs as a whole. */
const TUTORIAL = 'docs/extension-authors.md';

const DOCS = readdirSync(new URL('docs/', ROOT)).map((name) => `docs/${name}`);
const PAGES = ['README.md', 'CONTRIBUTING.md', ...DOCS.filter((page) => page !== TUTORIAL)];

const run = async (cwd: string, program: string, words: readonly string[]) => {
  const PATH = `${join(cwd, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`;
  return promisify(execFile)(program, words, { cwd, env: { ...process.env, PATH, NODE_OPTIONS: '' } });
};

/** A project in which this package is installed and `npx` asks no registry. */
function makeProject(): string {
  const folder = makeWorkspace('snippets');
  mkdirSync(join(folder, 'node_modules'));
  mkdirSync(join(folder, 'bin'));
  symlinkSync(fileURLToPath(ROOT), join(folder, 'node_modules/caldera'));
  const npx = join(folder, 'bin/npx');
  writeFileSync(npx, `#!/bin/sh\nexec '${process.execPath}' '${NPX}' "$@"\n`);
  chmodSync(npx, 0o755);
  return folder;
}

async function runSnippet(folder: string, { kind, file, code }: Snippet): Promise<string> {
  if (kind === 'commands') return (await run(folder, 'sh', ['-e', '-c', code])).stdout;
  writeFileSync(join(folder, file), code);
  if (kind === 'program') return (await run(folder, process.execPath, [file])).stdout;
  const { stdout } = await run(folder, 'npx', ['caldera', 'tools', '--json', '--extension', file]);
  const { tools, failures } = JSON.parse(stdout) as { tools: ToolDescriptor[]; failures: unknown[] };
  expect(failures).toEqual([]);
  return tools.map(({ name }) => name).join('\n');
}

beforeAll(async () => {
  // The snippets run the package as it is built.
  await promisify(execFile)('npx', ['tsc', '-b', 'src/worker', 'src/host'], { cwd: fileURLToPath(ROOT) });
}, PATIENCE.timeout);

describe.each(PAGES)('%s', PATIENCE, (page) => {
  const snippets = snippetsOf(new URL(page, ROOT));
  test(`its ${snippets.length} marked snippets run and say something`, async () => {
    const folder = makeProject();
    for (const snippet of snippets) {
      const said = await runSnippet(folder, snippet).catch((error: unknown) => {
        throw new Error(`${page}:${snippet.line} failed`, { cause: error });
      });
      expect(said, `${page}:${snippet.line}`).not.toBe('');
    }
  });
});

test('the example of the README lists the tools of its server and calls one', PATIENCE, async () => {
  const [example] = snippetsOf(new URL('README.md', ROOT));
  if (!example) throw new Error('the README has no example');
  const said = await runSnippet(makeProject(), example);
  expect(said).toContain("'create_entities'");
  expect(said).toMatch(/^false \{/m);
  expect(said).toContain("outcome: 'done'");
});
