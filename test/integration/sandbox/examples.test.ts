import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { demoServer } from '../../../src/host/cli/demo-server-entry.ts';
import { type ExtensionHostOptions, mcpExtension } from '../../../src/host/index.ts';
import { readUntrusted } from '../../../src/host/untrusted-extension.ts';
import { grantDropIn } from '../../support/drop-ins.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const EXAMPLES = fileURLToPath(new URL('../../../examples/extensions/', import.meta.url));

/** An example in a folder of its own, granted what it requests. */
async function hostWith(name: string, prepare: (path: string) => void = () => {}, options: ExtensionHostOptions = {}) {
  const folder = makeWorkspace('drop-ins');
  const agentDir = makeWorkspace('agent');
  const path = join(folder, name);
  cpSync(join(EXAMPLES, name), path, { recursive: true });
  prepare(path);
  await grantDropIn(agentDir, path, (await readUntrusted(path)).manifest.permissions);
  const { extensions = [], ...others } = options;
  const host = makeHost(extensions, { agentDir, extensionDirs: [folder], ...others });
  expect(await host.start()).toEqual({ failures: [] });
  return host;
}

test('word-count.ts counts words', async () => {
  const session = await openSession(await hostWith('word-count.ts'));
  const result = await session.callTool({ name: 'count_words', arguments: { text: 'one two\nthree' } });
  expect(result).toMatchObject({ content: [{ text: '3 words, 2 lines' }], structuredContent: { words: 3, lines: 2 } });
});

test('prime-count.ts streams its progress', async () => {
  const session = await openSession(await hostWith('prime-count.ts'));
  const progress: unknown[] = [];
  const result = await session.callTool(
    { name: 'count_primes', arguments: { below: 1000 } },
    { onProgress: (one) => progress.push(one) },
  );
  expect(textOf(result)).toBe('168 primes below 1000');
  expect(progress.at(-1)).toEqual({ progress: 10, total: 10, message: '168 primes below 1000' });
});

test('weather fetches from its granted host', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end(JSON.stringify({ current: { temperature_2m: 21.5, wind_speed_10m: 7 } }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const host = await hostWith(
    'weather',
    (path) => {
      writeFileSync(join(path, 'service.ts'), `export const SERVICE = '${service}';`);
      const manifest = JSON.parse(readFileSync(join(path, 'extension.json'), 'utf8'));
      manifest.permissions.net.hosts = ['127.0.0.1'];
      writeFileSync(join(path, 'extension.json'), JSON.stringify(manifest));
    },
    { ceiling: { allowPrivateNetwork: true } },
  );
  const session = await openSession(host);
  const result = await session.callTool({ name: 'weather_now', arguments: { latitude: 52.5, longitude: 13.4 } });
  await new Promise((done) => server.close(done).closeAllConnections());
  expect(textOf(result)).toBe('21.5 °C, wind 7 km/h');
  expect(asked).toEqual(['/v1/forecast?latitude=52.5&longitude=13.4&current=temperature_2m,wind_speed_10m']);
});

test('notebook keeps notes over sessions and has a command', async () => {
  const host = await hostWith('notebook');
  const first = await openSession(host);
  expect(textOf(await first.callTool({ name: 'write_note', arguments: { text: 'buy milk' } }))).toBe(
    '1 notes are kept',
  );
  const second = await openSession(host);
  expect(await second.runCommand('notes')).toEqual({ text: '1. buy milk' });
  expect((await second.beforeAgentStart({ prompt: '' })).sections['notes']).toMatch(/buy milk/);
  expect(await second.runCommand('notes', 'clear')).toEqual({ text: 'No notes are kept any more.' });
});

test('note-report writes what a granted MCP tool says', async () => {
  const host = await hostWith('note-report', undefined, {
    extensions: [mcpExtension({ servers: { notes: demoServer() } })],
  });
  const session = await openSession(host);
  mkdirSync(join(session.cwd, 'reports'));
  await session.callTool({ name: 'add_note', arguments: { text: 'from the chat' } });
  expect(textOf(await session.callTool({ name: 'report_notes' }))).toBe('reports/notes.md is written');
  expect(readFileSync(join(session.cwd, 'reports', 'notes.md'), 'utf8')).toBe('# Notes\n\nfrom the chat\n');
});
