import { type HostileCase, IMPORT_OWN } from '../hostile-case.ts';

/** Names and addresses that fake-network.mjs answers for. */
const PUBLIC = 'public page';

/** The addresses where clouds keep credentials, in every spelling that has fooled a filter. */
const METADATA = [
  '169.254.169.254',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[0:0:0:0:0:ffff:a9fe:a9fe]',
  '[::169.254.169.254]',
  '[64:ff9b::169.254.169.254]',
  '[2002:a9fe:a9fe::]',
  '2852039166',
  '025177524776',
  '0xa9fea9fe',
  '0xA9.0xFE.0xA9.0xFE',
  '0251.0376.0251.0376',
  '169.254.43518',
  '169.16689662',
  '169.254.169.254.',
  '１６９。２５４。１６９。２５４',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '168.63.129.16',
  'metadata.google.internal',
  'METADATA.google.internal.',
];
const LOOPBACK = [
  '127.0.0.1',
  'localhost',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::]',
  '0.0.0.0',
  '0',
  '127.1',
  '2130706433',
  '0x7f000001',
  '017700000001',
];
const NAMES = ['public.example', 'rebind.example', 'both.example', 'mapped.example'];

/** Everything is granted by name, in the spelling a URL gives it: what stops the attack is the address. */
const hosts = [
  ...new Set(
    [...NAMES, ...METADATA, ...LOOPBACK].map((host) => new URL(`http://${host}/`).hostname.replace(/\.$/, '')),
  ),
];
const permissions = { net: { hosts, methods: ['GET', 'POST'] } };

/** `get(url)` by every `fetch` there is; the granted one is tried on a page of the internet first. */
const GET = `
  const get = async (url, options) => {
    await attempt(async () => (await own.fetch(url, options)).text());
    await attempt(async () => (await fetch(url, options)).text());
  };
  await get('http://public.example/');`;

export const NETWORK: readonly HostileCase[] = [
  {
    group: 'network',
    name: 'reaches a loopback listener',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    top: IMPORT_OWN,
    attack:
      "const url = 'http://127.0.0.1:' + world.port + '/'; await attempt(async () => (await fetch(url)).text()); await attempt(async () => (await own.fetch(url)).text());",
  },
  {
    group: 'network',
    name: 'reaches loopback by a granted host, in every spelling of the address',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    permissions,
    reaches: PUBLIC,
    top: IMPORT_OWN,
    attack: `${GET} for (const host of ${JSON.stringify(LOOPBACK)}) await get('http://' + host + ':' + world.port + '/');`,
  },
  {
    group: 'network',
    name: 'reaches the metadata service by a granted host, in every spelling of the address',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    permissions,
    reaches: PUBLIC,
    top: IMPORT_OWN,
    attack: `${GET} for (const host of ${JSON.stringify(METADATA)}) await get('http://' + host + '/latest/meta-data/');`,
  },
  {
    group: 'network',
    name: 'is redirected from a granted host to loopback and to the metadata service',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    permissions,
    reaches: PUBLIC,
    top: IMPORT_OWN,
    attack: `${GET}
      const port = ':' + world.port;
      for (const target of ['http://127.0.0.1' + port, 'http://localhost' + port, 'http://[::1]' + port, '//127.0.0.1' + port, 'http://2130706433' + port, 'http://169.254.169.254/', 'http://[fd00:ec2::254]/', 'http://metadata.google.internal/', 'file:///etc/hostname', 'http://user:pass@127.0.0.1' + port, 'http://rebind.example' + port, 'http://public.example/to?' + encodeURIComponent('http://127.0.0.1' + port)]) {
        for (const method of ['GET', 'POST']) await get('http://public.example/to?' + encodeURIComponent(target), { method });
      }`,
  },
  {
    group: 'network',
    name: 'reaches loopback by a name whose address changes after it was looked at (DNS rebinding)',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    permissions,
    reaches: 'public page for rebind.example',
    top: IMPORT_OWN,
    attack: `${GET} for (let i = 0; i < 4; i++) await get('http://rebind.example:' + world.port + '/');`,
  },
  {
    group: 'network',
    name: 'reaches loopback by a name that has a public address, too',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    permissions,
    reaches: PUBLIC,
    misses: ['public page for both.example', 'public page for mapped.example'],
    top: IMPORT_OWN,
    attack: `${GET} for (const name of ['both.example', 'mapped.example']) for (let i = 0; i < 3; i++) await get('http://' + name + ':' + world.port + '/');`,
  },
  {
    group: 'network',
    name: 'goes around fetch: sockets, datagrams, WebSocket, the resolver',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    attack: `const url = '127.0.0.1:' + world.port;
      for (const route of [() => import('node:net'), () => process.getBuiltinModule('net')]) await attempt(async () => {
        const m = await route();
        const socket = m.connect(world.port, '127.0.0.1');
        await new Promise((done, failed) => { socket.once('connect', done); socket.once('error', failed); });
        socket.destroy();
      });
      for (const make of [() => new WebSocket('ws://' + url), () => new EventSource('http://' + url), () => new XMLHttpRequest().open('GET', 'http://' + url), () => std.urlGet('http://' + url), () => os.exec(['curl', url]), () => import('http://' + url + '/x.js')]) await attempt(make);`,
  },
];
