import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeServer } from '../../support/fake-server.ts';
import { makeWorkspace } from '../../support/workspace.ts';
import { PROBE } from './command-line.ts';
import { RpcClient } from './rpc-client.ts';

interface Opened {
  readonly tools: readonly { readonly name: string; readonly source: { readonly server?: string } }[];
}

function write(folder: string, name: string, config: object): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(config));
  return file;
}

const serversOf = ({ tools }: Opened): string[] => [...new Set(tools.flatMap(({ source }) => source.server ?? []))];

describe('caldera rpc with configuration files', { timeout: 60_000 }, () => {
  it('offers what they name: the first file wins on a server, extensions add up, paths start at the file', async () => {
    const folder = makeWorkspace('config');
    writeFileSync(
      join(folder, 'own.mjs'),
      'export default (api) => api.registerTool({ name: api.options.as, description: "", parameters: { type: "object" }, execute: () => "own" });',
    );
    const one = write(folder, 'one.json', {
      mcp: { servers: { b: fakeServer('normal', { toolPrefix: 'first_' }) } },
      extensions: [{ path: './own.mjs', options: { as: 'mine' } }],
    });
    const two = write(folder, 'two.json', {
      mcp: {
        servers: { b: fakeServer('normal', { toolPrefix: 'second_' }), a: fakeServer('counter', { toolPrefix: 'a_' }) },
      },
      extensions: [PROBE],
    });
    const client = new RpcClient(['--config', one, '--config', two]).read();
    const opened = await client.result<Opened>('session/open', { sessionId: 's', cwd: client.cwd });
    const names = opened.tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['first_echo', 'a_increment', 'mine', 'steps']));
    expect(names.some((name) => name.startsWith('second_'))).toBe(false);
    expect(await client.call('s', 'mine')).toBe('own');
    await client.result('host/close');

    const restricted = new RpcClient(['--config', two, '--server', 'a']).read();
    expect(serversOf(await restricted.result<Opened>('session/open', { sessionId: 's', cwd: client.cwd }))).toEqual([
      'a',
    ]);
    await restricted.result('host/close');
  });

  it('takes the workspace from --cwd when a session names none, or a relative one', async () => {
    const folder = makeWorkspace('workspace');
    mkdirSync(join(folder, 'inner'));
    const client = new RpcClient(['--cwd', folder]).read();
    await client.result('session/open', { sessionId: 'none' });
    await client.result('session/open', { sessionId: 'relative', cwd: 'inner' });
    expect(await client.result('host/inspect')).toMatchObject({
      sessions: [
        { id: 'none', cwd: folder },
        { id: 'relative', cwd: join(folder, 'inner') },
      ],
    });
    await client.result('host/close');
  });

  it('lets no configured secret out, neither in answers nor in logs', async () => {
    const secret = 'a-secret-with-$&-in-it';
    const file = write(makeWorkspace('config'), 'secret.json', {
      secrets: ['${env:NOT_TO_BE_SEEN}'],
      extensions: [PROBE],
    });
    const client = new RpcClient(['--config', file, '--log-level', 'debug'], {
      env: { NOT_TO_BE_SEEN: secret },
    }).read();
    await client.open('s');
    expect(await client.call('s', 'echo', { said: `<${secret}>` })).toBe('{"said":"<[REDACTED]>"}');
    await client.result('host/close');
    await client.exited;
    expect(JSON.stringify(client.messages) + client.stderr).not.toContain(secret);
  });
});
