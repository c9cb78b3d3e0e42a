import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { makeDropInHost, toolOf, writeDropIn } from '../../support/drop-ins.ts';
import { makeHost, openSession, textOf } from '../../support/extension-fixtures.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const SOON_MS = 2000;
const servers: Server[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
});

const makeFifo = (path: string): void => void execFileSync('sh', ['-c', 'exec mkfifo "$0"', path]);

/** A folder with one of everything that is no file. The name of a socket has to be short. */
async function oddities(): Promise<string> {
  const cwd = makeWorkspace();
  makeFifo(join(cwd, 'fifo'));
  symlinkSync('fifo', join(cwd, 'to-fifo'));
  symlinkSync('/dev/zero', join(cwd, 'to-device'));
  const server = createServer();
  servers.push(server);
  await new Promise<void>((done) => server.listen(join(cwd, 'socket'), done));
  writeFileSync(join(cwd, 'file'), 'text');
  return cwd;
}

const FILES = "import { fs } from 'caldera/extension';";
const PROGRAM = `
  const said = [];
  for (const [name, path] of params.work) said.push(await refused(() => name === 'read' ? fs.readFile(path) : name === 'list' ? fs.readdir(path) : fs.writeFile(path, 'x')));
  return text(said.join('|'));`;

/** Runs file operations in a sandboxed extension that was granted all of the workspace, and more. */
async function operate(cwd: string, work: readonly (readonly [string, string])[]) {
  const paths = ['${workspace}/**', '/dev/**'];
  const permissions = { 'fs.read': { paths }, 'fs.write': { paths } };
  const { host } = await makeDropInHost([
    { source: toolOf(PROGRAM, FILES), manifest: { permissions }, granted: permissions },
  ]);
  const session = await openSession(host, { cwd });
  const from = performance.now();
  const said = textOf(await session.callTool({ name: 'run', arguments: { work } })).split('|');
  return { said, ms: performance.now() - from };
}

describe('fs of a sandboxed extension', () => {
  test.each(['read', 'write'])(
    'refuses to %s a FIFO, a socket and a device at once, whoever granted them',
    async (way) => {
      const cwd = await oddities();
      // More than there are threads that could be held.
      const fifos = Array.from({ length: 8 }, () => [way, 'fifo'] as const);
      const { said, ms } = await operate(cwd, [...fifos, [way, 'socket'], [way, '/dev/zero'], ['read', 'file']]);
      expect(said).toEqual([
        ...fifos.map(() => 'INVALID_ARGUMENT: fifo is no file'),
        'INVALID_ARGUMENT: socket is no file',
        'INVALID_ARGUMENT: /dev/zero is no file',
        'got text',
      ]);
      expect(ms).toBeLessThan(SOON_MS);
    },
  );

  test('refuses what a link makes of them', async () => {
    const cwd = await oddities();
    const { said, ms } = await operate(cwd, [
      ['read', 'to-fifo'],
      ['read', 'to-device'],
      ['write', 'to-fifo'],
      ['write', 'to-device'],
      ['list', 'fifo'],
      ['list', 'to-fifo'],
      ['list', 'socket'],
    ]);
    expect(said).toEqual([
      'INVALID_ARGUMENT: to-fifo is no file',
      'INVALID_ARGUMENT: to-device is no file',
      expect.stringMatching(/^PERMISSION_DENIED: to-fifo/),
      expect.stringMatching(/^PERMISSION_DENIED: to-device/),
      'INVALID_ARGUMENT: fifo: it is no folder',
      'INVALID_ARGUMENT: to-fifo: it is no folder',
      'INVALID_ARGUMENT: socket: it is no folder',
    ]);
    expect(ms).toBeLessThan(SOON_MS);
  });
});

describe('a folder of drop-ins', () => {
  const GOOD = toolOf("return text('fine');");
  const folderWith = (folder: string, name: string, put: (own: string) => void): string => {
    const own = join(folder, name);
    mkdirSync(own);
    put(own);
    return own;
  };

  /** Puts something odd beside a good drop-in; gives what the host says of it and how long its main thread was gone. */
  async function startBeside(put: (folder: string) => void) {
    const folder = makeWorkspace('drop-ins');
    put(folder);
    writeDropIn(folder, { name: 'good', source: GOOD });
    const host = makeHost([], { extensionDirs: [folder] });
    const from = performance.now();
    const { failures } = await host.start();
    const session = await openSession(host);
    expect(textOf(await session.callTool({ name: 'run' }))).toBe('fine');
    return { folder, failures, ms: performance.now() - from };
  }

  const odd: readonly (readonly [string, string, RegExp, (folder: string) => void])[] = [
    ['a FIFO by the name of an extension', 'a.ts', /no regular file/, (folder) => makeFifo(join(folder, 'a.ts'))],
    [
      'a link to a device by the name of an extension',
      'a.ts',
      /no regular file/,
      (folder) => symlinkSync('/dev/zero', join(folder, 'a.ts')),
    ],
    [
      'a FIFO as its manifest',
      'a',
      /extension\.json is not valid: it is no regular file/,
      (folder) =>
        folderWith(folder, 'a', (own) => {
          makeFifo(join(own, 'extension.json'));
          writeFileSync(join(own, 'index.ts'), GOOD);
        }),
    ],
    [
      'a FIFO as its package.json',
      'a',
      /package\.json.*is not valid: it is no regular file/,
      (folder) =>
        folderWith(folder, 'a', (own) => {
          makeFifo(join(own, 'package.json'));
          writeFileSync(join(own, 'index.ts'), GOOD);
        }),
    ],
    [
      'a package.json that is a FIFO beside a manifest without an entry',
      'a',
      /package\.json: it is no regular file/,
      (folder) =>
        folderWith(folder, 'a', (own) => {
          writeFileSync(join(own, 'extension.json'), '{}');
          makeFifo(join(own, 'package.json'));
        }),
    ],
    [
      'a manifest that is a link to a device',
      'a',
      /extension\.json is not valid: it is no regular file/,
      (folder) =>
        folderWith(folder, 'a', (own) => {
          symlinkSync('/dev/zero', join(own, 'extension.json'));
          writeFileSync(join(own, 'index.ts'), GOOD);
        }),
    ],
    [
      'a manifest of a gigabyte',
      'a',
      /extension\.json is not valid: it is larger than 1048576 bytes/,
      (folder) =>
        folderWith(folder, 'a', (own) => {
          writeFileSync(join(own, 'extension.json'), '');
          truncateSync(join(own, 'extension.json'), 2 ** 30);
        }),
    ],
    [
      'a FIFO as its entry',
      'a',
      /its entry index\.ts is no/,
      (folder) => folderWith(folder, 'a', (own) => makeFifo(join(own, 'index.ts'))),
    ],
    [
      'a file of a gigabyte',
      'a',
      /data\.bin: it is larger than/,
      (folder) =>
        folderWith(folder, 'a', (own) => {
          writeFileSync(join(own, 'index.ts'), GOOD);
          writeFileSync(join(own, 'data.bin'), '');
          truncateSync(join(own, 'data.bin'), 2 ** 30);
        }),
    ],
  ];

  test.each(odd)('with %s says so, and the others run', async (_name, name, reason, put) => {
    const { folder, failures, ms } = await startBeside(put);
    expect(failures).toEqual([
      { extension: join(folder, name), code: 'EXTENSION_LOAD_FAILED', message: expect.stringMatching(reason) },
    ]);
    expect(ms).toBeLessThan(2 * SOON_MS);
  });

  test('takes no notice of a link in a circle and of a FIFO that nothing imports', async () => {
    const { failures } = await startBeside((folder) => {
      symlinkSync('circle.ts', join(folder, 'circle.ts'));
      makeFifo(join(folder, 'notes'));
    });
    expect(failures).toEqual([]);
  });
});

test('an import that has become a FIFO since it was hashed is refused', async () => {
  const { host, folder } = await makeDropInHost([
    {
      source: toolOf("return text(await refused(() => import('./part.ts')));"),
      files: { 'part.ts': 'export default 1;' },
    },
  ]);
  const session = await openSession(host);
  const part = join(folder, 'probe', 'part.ts');
  makeFifo(`${part}.fifo`);
  rmSync(part);
  renameSync(`${part}.fifo`, part);
  expect(textOf(await session.callTool({ name: 'run' }))).toMatch(/"part\.ts" is no regular file/);
});

test.each([undefined, 'sandboxed'] as const)(
  'an extension named by its path that is a FIFO is refused (%s)',
  async (tier) => {
    const path = join(makeWorkspace(), 'pipe.mjs');
    makeFifo(path);
    const host = makeHost([{ path, ...(tier ? { tier } : {}) }]);
    const { failures } = await host.start();
    expect(failures).toEqual([
      { extension: path, code: 'EXTENSION_LOAD_FAILED', message: expect.stringMatching(/it is no regular file/) },
    ]);
  },
);
