import { type HostileCase, IMPORT_OWN, routes } from '../hostile-case.ts';

const NOTE = 'within its grant';

/** Reads the host's environment out of its stack, where the kernel has put it. */
const READ_MEMORY = `
  const maps = m.readFileSync('/proc/self/maps', 'utf8');
  const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) .*\\[stack\\]$/m.exec(maps);
  const size = Number(BigInt('0x' + to) - BigInt('0x' + from));
  const memory = m.openSync('/proc/self/mem', 'r');
  const bytes = Buffer.alloc(size);
  m.readSync(memory, bytes, 0, size, BigInt('0x' + from));
  m.closeSync(memory);
  return /HOSTILE_CANARY_TOKEN=[a-z0-9]+/.exec(bytes.toString('latin1'));`;

export const FILES: readonly HostileCase[] = [
  {
    group: 'files',
    name: 'reads a file outside, by an absolute path and by ..',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    attack: `${routes('fs', "return m.readFileSync(world.canaryFile, 'utf8');")}
      for (const work of [() => import(world.canaryModule), () => import('../'.repeat(12) + world.canaryModule), () => import('file://' + world.canaryModule)]) await attempt(async () => (await work()).canary);`,
  },
  {
    group: 'files',
    name: 'climbs out of the folders it was granted, with .. and every spelling of it',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    permissions: {
      'fs.read': { paths: ['${extension}', '${workspace}/**'] },
      'fs.write': { paths: ['${extension}', '${workspace}/**'] },
    },
    files: { 'note.txt': NOTE },
    reaches: NOTE,
    top: IMPORT_OWN,
    attack: `const { fs } = own;
      await attempt(() => fs.readFile(world.folder + '/note.txt'));
      const up = '../'.repeat(12);
      const spellings = (path) => [path, up + path, world.folder + '/' + up + path, world.folder + '/..' + path, './' + up + path, up.replaceAll('/', '//') + path, world.folder + '/note.txt/' + up + path, encodeURI(up) + path, 'file://' + path, path + '/', path + '\\0', world.folder + '\\0' + path];
      for (const path of spellings(world.canaryFile)) await attempt(() => fs.readFile(path));
      for (const path of spellings(world.outside)) await attempt(async () => JSON.stringify(await fs.readdir(path)));
      for (const path of spellings(world.writeTarget)) await attempt(() => fs.writeFile(path, 'x'));
      ${routes('fs', "return m.readFileSync(world.folder + '/../'.repeat(12) + world.canaryFile, 'utf8');")}`,
  },
  {
    group: 'files',
    name: 'writes a file outside',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    attack: routes('fs', "m.writeFileSync(world.writeTarget, 'x');"),
  },
  {
    group: 'files',
    name: 'follows symlinks out of its own folder, importing and reading',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    permissions: { 'fs.read': { paths: ['${extension}'] }, 'fs.write': { paths: ['${extension}'] } },
    files: { 'note.txt': NOTE },
    links: {
      'link.mjs': 'canaryModule',
      'link.txt': 'canaryFile',
      'link.json': 'canaryFile',
      folder: 'outside',
      'written.txt': 'writeTarget',
    },
    reaches: NOTE,
    top: IMPORT_OWN,
    attack: `const { fs } = own;
      await attempt(() => fs.readFile(world.folder + '/note.txt'));
      for (const work of [() => import('./link.mjs'), () => import('./folder/canary.mjs'), () => import('./link'), () => import('./folder/../folder/canary.mjs')]) await attempt(async () => (await work()).canary);
      for (const path of ['link.txt', 'link.mjs', 'link.json', 'folder/canary.txt', 'folder/../link.txt', 'folder/.././link.mjs']) await attempt(() => fs.readFile(world.folder + '/' + path));
      await attempt(async () => JSON.stringify(await fs.readdir(world.folder + '/folder')));
      for (const path of ['link.txt', 'written.txt', 'folder/written.txt']) await attempt(() => fs.writeFile(world.folder + '/' + path, 'x'));`,
  },
  {
    group: 'files',
    name: 'reads the host’s memory through /proc/self/mem',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    permissions: { 'fs.read': { paths: ['${extension}'] } },
    files: { 'note.txt': NOTE },
    links: { mem: '/proc/self/mem', maps: '/proc/self/maps', environ: '/proc/self/environ', fd: '/proc/self/fd' },
    reaches: NOTE,
    top: IMPORT_OWN,
    attack: `const { fs } = own;
      await attempt(() => fs.readFile(world.folder + '/note.txt'));
      for (const name of ['mem', 'maps', 'environ', 'fd/0', 'fd/1', 'cwd/x', 'root/etc/hostname']) {
        for (const folder of ['/proc/self/', '/proc/thread-self/', '/proc/' + world.hostPid + '/', '/dev/../proc/self/', world.folder + '/']) await attempt(() => fs.readFile(folder + name));
      }
      ${routes('fs', READ_MEMORY)}`,
  },
  {
    group: 'files',
    name: 'uses fs, storage and mcp of caldera/extension without a grant',
    trusted: 'contained',
    sandboxed: 'contained',
    top: IMPORT_OWN,
    attack:
      "for (const work of [() => own.fs.readFile(world.canaryFile), () => own.fs.writeFile(world.writeTarget, 'x'), () => own.storage.set('a', 1), () => own.mcp.callTool('a', 'b')]) await attempt(work);",
  },
];
