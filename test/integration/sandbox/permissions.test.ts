import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { mcpExtension } from '../../../src/host/index.ts';
import type { PermissionKey, Permissions } from '../../../src/shared/sandbox.ts';
import { makeDropInHost, toolOf } from '../../support/drop-ins.ts';
import { openSession, textOf } from '../../support/extension-fixtures.ts';
import { fakeServer } from '../../support/fake-server.ts';
import { waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const servers: Server[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done).closeAllConnections())));
});

/** A loopback listener that counts who came. */
async function listen(
  path: (url: string, port: number) => { status?: number; headers?: Record<string, string>; body?: string },
) {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`);
    const { status = 200, headers = {}, body = '' } = path(request.url ?? '', (server.address() as AddressInfo).port);
    response.writeHead(status, headers).end(body);
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { port: (server.address() as AddressInfo).port, hits };
}

interface Given {
  readonly requested?: Permissions;
  readonly granted?: Permissions;
  readonly body: string;
  readonly imports?: string;
  readonly cwd?: string;
  readonly allowPrivateNetwork?: boolean;
  readonly args?: Record<string, string | number>;
  readonly env?: Record<string, string>;
  readonly extensions?: Parameters<typeof makeDropInHost>[1];
}

/** What the tool said, and what the host counted. */
async function run({
  requested,
  granted,
  body,
  imports = '',
  cwd,
  allowPrivateNetwork = false,
  args = {},
  env = {},
  extensions = {},
}: Given) {
  const { host } = await makeDropInHost(
    [{ source: toolOf(body, imports), manifest: { permissions: requested ?? {} }, ...(granted ? { granted } : {}) }],
    { ceiling: { allowPrivateNetwork }, hostEnv: () => ({ PATH: process.env['PATH'], ...env }), ...extensions },
  );
  const session = await openSession(host, cwd === undefined ? {} : { cwd });
  expect(session.failures).toEqual([]);
  const result = await session.callTool({ name: 'run', arguments: args });
  const use = () => host.inspect().extensions.find(({ name }) => name === 'test.probe')?.permissions;
  return {
    text: textOf(result),
    counted: (kind: 'used' | 'denied', key: PermissionKey | 'api') =>
      waitUntil(() => use()?.[kind][key], `${kind} ${key}`),
    use,
  };
}

const all = (text: string) => text.split('|');

describe('net', () => {
  const fetching = "import { fetch } from 'caldera/extension';";
  const net = { hosts: ['127.0.0.1'], methods: ['GET'] };
  const get =
    'return text(await refused(async () => (await fetch(params.url, { method: params.method ?? "GET" })).text()));';

  test('reaches a granted host with a granted method', async () => {
    const { port, hits } = await listen(() => ({ body: 'hello' }));
    const seen = await run({
      requested: { net },
      granted: { net },
      allowPrivateNetwork: true,
      imports: fetching,
      body: get,
      args: { url: `http://127.0.0.1:${port}/a` },
    });
    expect(seen.text).toBe('got hello');
    expect(hits).toEqual(['GET /a']);
    expect(await seen.counted('used', 'net')).toBe(1);
  });

  test.each([
    ['that was only requested', { requested: { net }, url: '/', method: 'GET' }],
    ['that was granted and not requested', { granted: { net }, url: '/', method: 'GET' }],
    ['with another method', { requested: { net }, granted: { net }, url: '/', method: 'POST' }],
    ['under another name', { requested: { net }, granted: { net }, url: '/', method: 'GET', host: 'localhost' }],
  ])(
    'reaches nobody %s, and is counted',
    async (_name, {
      requested,
      granted,
      url,
      method,
      host = '127.0.0.1',
    }: {
      requested?: Permissions;
      granted?: Permissions;
      url: string;
      method: string;
      host?: string;
    }) => {
      const { port, hits } = await listen(() => ({ body: 'hello' }));
      const seen = await run({
        ...(requested ? { requested } : {}),
        ...(granted ? { granted } : {}),
        allowPrivateNetwork: true,
        imports: fetching,
        body: get,
        args: { url: `http://${host}:${port}${url}`, method },
      });
      expect(seen.text).toMatch(/^PERMISSION_DENIED/);
      expect(hits).toEqual([]);
      expect(await seen.counted('denied', 'net')).toBe(1);
    },
  );

  test.each([
    '127.0.0.1',
    'localhost',
    '[::1]',
    '2130706433',
    '[::ffff:127.0.0.1]',
    '169.254.169.254',
    '10.0.0.1',
    '100.100.100.200',
  ])('reaches no private address by the name %s, though the host is granted', async (host) => {
    const { port, hits } = await listen(() => ({ body: 'hello' }));
    const hosts = [host, '127.0.0.1', '::1', '::ffff:7f00:1', 'localhost'];
    const permissions = { net: { hosts, methods: ['GET'] } };
    const seen = await run({
      requested: permissions,
      granted: permissions,
      imports: fetching,
      body: get,
      args: { url: `http://${host}:${port}/` },
    });
    expect(seen.text).toMatch(/^PERMISSION_DENIED: the host .* has a loopback, private or link-local address/);
    expect(hits).toEqual([]);
  });

  test('follows a redirect to a granted host, and none to another', async () => {
    const { port, hits } = await listen((url, own) =>
      url === '/in'
        ? { status: 302, headers: { location: '/end' } }
        : url === '/out'
          ? { status: 302, headers: { location: `http://localhost:${own}/end` } }
          : { body: 'end' },
    );
    const both = `return text((await refused(async () => (await fetch('http://127.0.0.1:${port}/in')).text())) + '|' + (await refused(async () => (await fetch('http://127.0.0.1:${port}/out')).text())));`;
    const seen = await run({
      requested: { net },
      granted: { net },
      allowPrivateNetwork: true,
      imports: fetching,
      body: both,
    });
    expect(all(seen.text)).toEqual(['got end', expect.stringMatching(/^PERMISSION_DENIED/)]);
    expect(hits).toEqual(['GET /in', 'GET /end', 'GET /out']);
  });

  test('gives no answer over 1 MiB, and sends no header that decides where it goes', async () => {
    let sent: string | undefined;
    const server = createServer((request, response) => {
      sent = request.headers.host;
      response.end('x'.repeat(1024 * 1024 + 1));
    });
    servers.push(server);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const seen = await run({
      requested: { net },
      granted: { net },
      allowPrivateNetwork: true,
      imports: fetching,
      body: `return text(await refused(async () => (await fetch('http://127.0.0.1:${port}/', { headers: { Host: 'inside.example' } })).status));`,
    });
    expect(seen.text).toMatch(/larger than 1048576 bytes/);
    expect(sent).toBe(`127.0.0.1:${port}`);
  });

  test('speaks http and https only', async () => {
    const wide = { net: { hosts: ['*'], methods: ['GET'] } };
    const seen = await run({
      requested: wide,
      granted: wide,
      imports: fetching,
      body: "return text(await refused(() => fetch('file:///etc/passwd')));",
    });
    expect(seen.text).toMatch(/^PERMISSION_DENIED/);
  });
});

describe('env', () => {
  const env = { names: ['WEATHER_KEY'] };
  const body =
    "return text([await refused(() => api.env.get('WEATHER_KEY')), await refused(() => api.env.get('OTHER_KEY'))].join('|'));";
  const values = { WEATHER_KEY: 'sunshine-123456', OTHER_KEY: 'hidden-123456' };

  test('answers a granted name and no other', async () => {
    const seen = await run({
      requested: { env },
      granted: { env },
      env: values,
      body: body.replace('join', 'map((line) => line.replace("sunshine", "SUN")).join'),
    });
    // The value itself is taken out of everything that leaves: it looks like a secret.
    expect(all(seen.text)).toEqual(['got SUN-123456', expect.stringMatching(/^PERMISSION_DENIED/)]);
    expect(await seen.counted('used', 'env')).toBe(1);
    expect(await seen.counted('denied', 'env')).toBe(1);
  });

  test('answers nothing without the grant', async () => {
    const seen = await run({ requested: { env }, env: values, body });
    expect(all(seen.text)).toEqual([
      expect.stringMatching(/^PERMISSION_DENIED/),
      expect.stringMatching(/^PERMISSION_DENIED/),
    ]);
    expect(await seen.counted('denied', 'env')).toBe(2);
  });
});

describe('fs', () => {
  const files = "import { fs } from 'caldera/extension';";

  function tree() {
    const cwd = makeWorkspace();
    const outside = makeWorkspace('outside');
    mkdirSync(join(cwd, 'out'));
    writeFileSync(join(cwd, 'note.txt'), 'inside');
    writeFileSync(join(outside, 'secret.txt'), 'canary');
    symlinkSync(join(outside, 'secret.txt'), join(cwd, 'link.txt'));
    symlinkSync(outside, join(cwd, 'linked'));
    symlinkSync(join(outside, 'secret.txt'), join(cwd, 'out', 'link.txt'));
    symlinkSync(outside, join(cwd, 'out', 'linked'));
    return { cwd, outside };
  }

  test('reads what was granted, and nothing by a link, by .. or by an absolute path', async () => {
    const { cwd, outside } = tree();
    const permissions = { 'fs.read': { paths: ['${workspace}/**'] } };
    const paths = [
      'note.txt',
      join(cwd, 'note.txt'),
      'link.txt',
      'linked/secret.txt',
      `../${outside.split('/').pop()}/secret.txt`,
      join(outside, 'secret.txt'),
      '/proc/self/environ',
      '/proc/self/mem',
      'out',
    ];
    const seen = await run({
      requested: permissions,
      granted: permissions,
      cwd,
      imports: files,
      body: `const said = []; for (const path of ${JSON.stringify(paths)}) said.push(await refused(() => fs.readFile(path))); return text(said.join('|'));`,
    });
    const said = all(seen.text);
    expect(said.slice(0, 2)).toEqual(['got inside', 'got inside']);
    for (const line of said.slice(2, 8)) expect(line).toMatch(/^PERMISSION_DENIED/);
    expect(said[8]).toMatch(/^INVALID_ARGUMENT/);
    expect(await seen.counted('denied', 'fs.read')).toBe(6);
  });

  test('lists a granted folder, and reads its own folder when that was granted', async () => {
    const { cwd } = tree();
    const permissions = { 'fs.read': { paths: ['${extension}', '${workspace}/out'] } };
    const { host } = await makeDropInHost([
      {
        source: toolOf(
          "return text([await refused(() => fs.readdir('out')), await refused(() => fs.readdir('.')), await refused(() => fs.readFile(params.own))].join('|'));",
          files,
        ),
        manifest: { permissions },
        files: { 'data.txt': 'mine' },
        granted: permissions,
      },
    ]);
    const session = await openSession(host, { cwd });
    const own = join(host.inspect().extensions[0]?.path ?? '', 'data.txt');
    expect(all(textOf(await session.callTool({ name: 'run', arguments: { own } })))).toEqual([
      'got ["link.txt","linked"]',
      expect.stringMatching(/^PERMISSION_DENIED/),
      'got mine',
    ]);
  });

  test('reads no file over 1 MiB and hangs on no pipe', async () => {
    const { cwd } = tree();
    writeFileSync(join(cwd, 'large.txt'), 'x'.repeat(1024 * 1024 + 1));
    const permissions = { 'fs.read': { paths: [cwd] } };
    const seen = await run({
      requested: permissions,
      granted: permissions,
      cwd,
      imports: files,
      body: "return text(await refused(() => fs.readFile('large.txt')));",
    });
    expect(seen.text).toMatch(/larger than 1048576 bytes/);
  });

  test('writes what was granted, and nothing through a link or elsewhere', async () => {
    const { cwd, outside } = tree();
    const permissions = { 'fs.write': { paths: ['${workspace}/out/**'] } };
    const paths = ['out/a.txt', 'out/link.txt', 'out/linked/b.txt', 'out/../c.txt', 'd.txt', join(outside, 'e.txt')];
    const seen = await run({
      requested: permissions,
      granted: permissions,
      cwd,
      imports: files,
      body: `const said = []; for (const path of ${JSON.stringify(paths)}) said.push(await refused(() => fs.writeFile(path, 'written'))); return text(said.join('|'));`,
    });
    expect(all(seen.text)).toEqual([
      'got undefined',
      ...Array.from({ length: 5 }, (): unknown => expect.stringMatching(/^PERMISSION_DENIED/)),
    ]);
    expect(readFileSync(join(cwd, 'out', 'a.txt'), 'utf8')).toBe('written');
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('canary');
    for (const path of [join(outside, 'b.txt'), join(cwd, 'c.txt'), join(cwd, 'd.txt'), join(outside, 'e.txt')])
      expect(() => readFileSync(path)).toThrow(/ENOENT/);
    expect(await seen.counted('denied', 'fs.write')).toBe(5);
  });

  test('reads and writes nothing without the grants', async () => {
    const { cwd } = tree();
    const requested = { 'fs.read': { paths: ['${workspace}/**'] }, 'fs.write': { paths: ['${workspace}/**'] } };
    const seen = await run({
      requested,
      cwd,
      imports: files,
      body: "return text([await refused(() => fs.readFile('note.txt')), await refused(() => fs.readdir('.')), await refused(() => fs.writeFile('x.txt', 'x'))].join('|'));",
    });
    for (const line of all(seen.text)) expect(line).toMatch(/^PERMISSION_DENIED/);
    expect(() => readFileSync(join(cwd, 'x.txt'))).toThrow(/ENOENT/);
  });
});

describe('storage', () => {
  const storing = "import { storage } from 'caldera/extension';";
  const storage = { maxBytes: 200 };

  test('keeps values over sessions and hosts, within the granted size', async () => {
    const body =
      "if (params.set) await storage.set('note', { said: params.set }); return text([await refused(() => storage.get('note')), await refused(() => storage.set('big', 'x'.repeat(300))), (await storage.keys()).join()].join('|'));";
    const { host, folder, agentDir } = await makeDropInHost([
      { source: toolOf(body, storing), manifest: { permissions: { storage } }, granted: { storage } },
    ]);
    const first = await openSession(host);
    expect(all(textOf(await first.callTool({ name: 'run', arguments: { set: 'hello' } })))).toEqual([
      'got {"said":"hello"}',
      expect.stringMatching(/larger than 200 bytes/),
      'note',
    ]);
    await host.close();
    const { host: second } = await makeDropInHost([], { extensionDirs: [folder], agentDir });
    const later = await openSession(second);
    expect(all(textOf(await later.callTool({ name: 'run' })))[0]).toBe('got {"said":"hello"}');
  });

  test('rejects without the grant', async () => {
    const seen = await run({
      requested: { storage },
      imports: storing,
      body: "return text([await refused(() => storage.get('a')), await refused(() => storage.set('a', 1))].join('|'));",
    });
    for (const line of all(seen.text)) expect(line).toMatch(/^PERMISSION_DENIED/);
    expect(await seen.counted('denied', 'storage')).toBe(2);
  });
});

describe('mcp', () => {
  const tools = "import { mcp } from 'caldera/extension';";
  const granted = { mcp: { servers: ['notes'], tools: ['inc*'] } };
  const body =
    "return text([await refused(async () => (await mcp.callTool('notes', 'increment', {})).content[0].text), await refused(() => mcp.callTool('notes', 'value', {})), await refused(() => mcp.callTool('other', 'increment', {}))].join('|'));";
  const extensions = () => ({ extensions: [mcpExtension({ servers: { notes: fakeServer('counter') } })] });

  test('calls a granted tool of a granted server, and no other', async () => {
    const seen = await run({ requested: granted, granted, imports: tools, body, extensions: extensions() });
    const said = all(seen.text);
    expect(said[0]).toMatch(/^got /);
    expect(said.slice(1)).toEqual([
      expect.stringMatching(/^PERMISSION_DENIED/),
      expect.stringMatching(/^PERMISSION_DENIED/),
    ]);
    expect(await seen.counted('used', 'mcp')).toBe(1);
    expect(await seen.counted('denied', 'mcp')).toBe(2);
  });

  test('calls nothing without the grant', async () => {
    const seen = await run({ requested: granted, imports: tools, body, extensions: extensions() });
    for (const line of all(seen.text)) expect(line).toMatch(/^PERMISSION_DENIED/);
  });
});
