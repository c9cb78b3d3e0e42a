import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeWorkspace } from '../../support/workspace.ts';
import { runCommandLine } from '../cli/command-line.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const HOOK = new URL('../../support/ts-worker-hook.mjs', import.meta.url).href;
const page = readFileSync(join(ROOT, 'docs/workflows.md'), 'utf8');

/** The block behind a fence such as "```json caldera.json". */
function block(title: string): string {
  const [, text] = page.split(`\`\`\`${title}\n`);
  if (text === undefined) throw new Error(`docs/workflows.md has no block "${title}"`);
  return text.slice(0, text.indexOf('\n```'));
}

/** A folder with the page's files. `npx` would ask the registry, so the server is the one that is installed here. */
function folderOfThePage(): string {
  const folder = makeWorkspace('docs');
  const server = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/dist/index.js');
  const config = JSON.parse(block('json caldera.json')) as { mcp: { servers: { memory: object } } };
  config.mcp.servers.memory = { ...config.mcp.servers.memory, command: process.execPath, args: [server] };
  writeFileSync(join(folder, 'caldera.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'remember.json'), block('json remember.json'));
  return folder;
}

/** The program as it stands on the page, on the sources: `caldera` is found by a package of that name. */
function runProgram(title: string, folder: string): string {
  const file = join(folder, title);
  const sources = block(`js ${title}`)
    .replace("'caldera/workflow'", () => JSON.stringify(`${ROOT}src/host/workflow/index.ts`))
    .replace("'caldera'", () => JSON.stringify(`${ROOT}src/host/index.ts`));
  writeFileSync(file, sources);
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules/@langchain'), join(folder, 'node_modules/@langchain'));
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', HOOK, file], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 30_000,
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

describe('docs/workflows.md', { timeout: 60_000 }, () => {
  test('its first workflow runs as it is written there', async () => {
    const folder = folderOfThePage();
    const [program, ...words] = block('sh first-run').match(/'[^']*'|\S+/g) ?? [];
    expect(program).toBe('caldera');
    const { code, stdout } = await runCommandLine(
      [...words.map((word) => word.replace(/^'|'$/g, '')), '--agent-dir', join(folder, 'agent')],
      { cwd: folder },
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^write +ok .*sent: entities\nread +ok .*sent: query\n/);
    expect(stdout).toContain('"Ada"');
  });

  test('so does the program that does the same', () => {
    expect(runProgram('first.mjs', folderOfThePage())).toBe(
      "ok [ [ 'write', [ 'entities' ] ], [ 'read', [ 'query' ] ] ]\n",
    );
  });

  test('and the graph of one’s own', () => {
    expect(runProgram('own-graph.mjs', folderOfThePage())).toBe('ok\n');
  });
});
