import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeWorkspace } from '../../support/workspace.ts';
import { runCommandLine } from '../cli/command-line.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const HOOK = new URL('../../support/ts-worker-hook.mjs', import.meta.url).href;
const HOST = new URL('../../../src/host/index.ts', import.meta.url).href;

/** The fenced blocks of the page's tutorial, with what their first line says. */
function blocks(): readonly { readonly file?: string; readonly run: boolean; readonly text: string }[] {
  const page = readFileSync(join(ROOT, 'docs', 'extension-authors.md'), 'utf8');
  return [...page.matchAll(/^```(\w+)((?: [^\n]*)?)\n(.*?)^```/gms)].flatMap(([, , info = '', text = '']) => {
    const file = /file=(\S+)/.exec(info)?.[1];
    const run = /\brun\b/.test(info);
    return file || run ? [{ ...(file ? { file } : {}), run, text }] : [];
  });
}

async function node(file: string, cwd: string): Promise<string> {
  const child = spawn(process.execPath, ['--import', HOOK, file], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  const code = await new Promise((done) => child.once('close', done));
  expect(code).toBe(0);
  return out;
}

test('the tutorial of docs/extension-authors.md runs as it is written', { timeout: 90_000 }, async () => {
  const cwd = makeWorkspace('tutorial');
  symlinkSync(join(ROOT, 'node_modules'), join(cwd, 'node_modules'));
  const said: string[] = [];
  for (const { file, run, text } of blocks()) {
    if (file) {
      mkdirSync(dirname(join(cwd, file)), { recursive: true });
      // The package itself, as this checkout has it.
      writeFileSync(join(cwd, file), file.endsWith('.mjs') ? text.replace("'caldera'", () => `'${HOST}'`) : text);
      if (run) said.push(await node(join(cwd, file), cwd));
      continue;
    }
    for (const line of text.split('\n').filter((one) => one.startsWith('caldera '))) {
      const { code, stdout, stderr } = await runCommandLine(line.split(' ').slice(1), { cwd });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      said.push(stdout);
    }
  }
  expect(said).toHaveLength(4);
  expect(said[0]).toMatch(/registers 1 tools.*\n {2}greet {2}Greets somebody/);
  expect(said[1]).toMatch(/Granted; written to .*agent\/settings\.json/);
  expect(said[2]).toBe('Hello, you! (1)\n');
  expect(said[3]).toMatch(/granted:\n\s+storage.*1024[\s\S]*used: +storage 2/);
});
