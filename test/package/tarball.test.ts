/** The package as its users get it: packed, installed in an empty project by two versions of npm, and used there. */
import { execFile } from 'node:child_process';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeWorkspace } from '../support/workspace.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Ends a broken test; an install takes half a minute on a slow registry. */
const PATIENCE = { timeout: 300_000 };

const GREETER = `
import { defineExtension, ToolExecutionError } from 'caldera/extension';
export default defineExtension((api) => {
  api.registerTool({
    name: 'greet',
    description: 'Greets.',
    parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    execute: (_callId, params: { readonly [key: string]: unknown }, _signal, _onUpdate, ctx) => {
      if (params.name === 'nobody') throw new ToolExecutionError({ content: [{ type: 'text', text: 'nobody is here' }] });
      return 'Hello ' + params.name + ', from ' + ctx.cwd;
    },
  });
});
`;

const PROGRAM = `
import { ExtensionHost } from 'caldera';
const host = new ExtensionHost({ agentDir: './agent', extensions: ['./greeter.ts'] });
const session = await host.openSession({ id: 'one', cwd: '.' });
const results = [];
for (const name of ['Ada', 'nobody']) results.push(await session.callTool({ name: 'greet', arguments: { name } }));
await host.close();
console.log(JSON.stringify({ entry: import.meta.resolve('caldera'), failures: session.failures, results }));
`;

let tarball: string;

async function run(cwd: string, program: string, ...words: string[]): Promise<string> {
  // A folder of npm's own settings would follow from this run into the inner ones.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$/i.test(name)));
  const { stdout } = await promisify(execFile)(program, words, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

beforeAll(async () => {
  // Whatever was built before, the package holds what the sources say now. No script: it would remove dist under others.
  await run(ROOT, 'npx', 'tsc', '-b', 'src/worker', 'src/host');
  const folder = makeWorkspace('tarball');
  const packed = await run(ROOT, 'npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', folder);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  tarball = join(folder, filename);
}, PATIENCE.timeout);

describe.each(['10.9.9', '11.21.2'])('installed by npm %s in an empty project', PATIENCE, (npm) => {
  let project: string;

  beforeAll(async () => {
    project = makeWorkspace('project');
    writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }));
    writeFileSync(join(project, 'greeter.ts'), GREETER);
    writeFileSync(join(project, 'program.mjs'), PROGRAM);
    await run(project, 'npx', '--yes', `npm@${npm}`, 'install', '--no-audit', '--no-fund', '--prefer-offline', tarball);
  }, PATIENCE.timeout);

  test('it brings its program and pages, and none of its tests or sources', () => {
    const { bin } = JSON.parse(readFileSync(join(project, 'node_modules/caldera/package.json'), 'utf8')) as {
      bin: unknown;
    };
    expect(bin).toEqual({ caldera: 'dist/host/cli/main.js' });
    for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md', 'docs/dependencies.md', 'dist/worker/entry.js'])
      expect(() => readFileSync(join(project, 'node_modules/caldera', file)), file).not.toThrow();
    for (const file of ['src/host/index.ts', 'test/tsconfig.json', 'dist/host/tsconfig.tsbuildinfo'])
      expect(() => readFileSync(join(project, 'node_modules/caldera', file)), file).toThrow();
  });

  test('a program loads an extension by path and calls its tool', async () => {
    const { entry, failures, results } = JSON.parse(await run(project, process.execPath, 'program.mjs')) as {
      entry: string;
      failures: unknown[];
      results: unknown[];
    };
    expect(fileURLToPath(entry)).toBe(join(realpathSync(project), 'node_modules/caldera/dist/host/index.js'));
    expect(failures).toEqual([]);
    expect(results).toMatchObject([
      { isError: false, content: [{ text: `Hello Ada, from ${project}` }] },
      { isError: true, content: [{ text: 'nobody is here' }] },
    ]);
  });

  test('`npx caldera demo` shows everything it promises', async () => {
    const report = JSON.parse(await run(project, 'npx', 'caldera', 'demo', '--no-browser', '--json')) as {
      ok: boolean;
      steps: { ok: boolean }[];
    };
    expect(report.steps.filter(({ ok }) => !ok)).toEqual([]);
    expect(report.ok).toBe(true);
  });
});
