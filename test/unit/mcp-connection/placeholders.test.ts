// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how placeholders are written
import { describe, expect, test } from 'vitest';
import { expandPlaceholders, mentionedEnvNames } from '../../../src/worker/mcp/config/placeholders.ts';

const source = {
  command: 'x',
  args: [] as string[],
  cwd: null as string | null,
  env: {} as Record<string, string | null>,
};
const readEnv = (values: Record<string, string>) => (name: string) => Promise.resolve(values[name]);

describe('placeholders', () => {
  // MCP-14
  test('${workspace} expands in command, args, env values and cwd, every time', async () => {
    const given = {
      command: '${workspace}/run',
      args: ['--dir=${workspace}', '${workspace}:${workspace}', '$workspace', '${WORKSPACE}'],
      cwd: '${workspace}/sub',
      env: { A: '${workspace}', B: null },
    };
    expect(await expandPlaceholders(given, '/w', readEnv({}))).toEqual({
      command: '/w/run',
      args: ['--dir=/w', '/w:/w', '$workspace', '${WORKSPACE}'],
      cwd: '/w/sub',
      env: { A: '/w', B: null },
    });
  });

  test('without a cwd it is the workspace, and a relative one is taken from it', async () => {
    expect((await expandPlaceholders(source, '/w', readEnv({}))).cwd).toBe('/w');
    expect((await expandPlaceholders({ ...source, cwd: 'a/../b' }, '/w', readEnv({}))).cwd).toBe('/w/b');
    expect((await expandPlaceholders({ ...source, cwd: '/abs' }, '/w', readEnv({}))).cwd).toBe('/abs');
  });

  // MCP-08 MCP-28
  test('${env:NAME} expands in env values only; unset is empty', async () => {
    const given = { ...source, args: ['${env:TOKEN}'], env: { T: 'Bearer ${env:TOKEN}', U: '<${env:UNSET}>' } };
    const expanded = await expandPlaceholders(given, '/w', readEnv({ TOKEN: 's3' }));
    expect(expanded.args).toEqual(['${env:TOKEN}']);
    expect(expanded.env).toEqual({ T: 'Bearer s3', U: '<>' });
  });

  test('a path with $& and a value with a placeholder stay as they are', async () => {
    const given = { ...source, args: ['${workspace}'], env: { A: '${env:A}', B: '${workspace}' } };
    const expanded = await expandPlaceholders(given, "/a$&b$'c/${env:A}", readEnv({ A: '${workspace}$1' }));
    expect(expanded.args).toEqual(["/a$&b$'c/${env:A}"]);
    expect(expanded.env).toEqual({ A: '${workspace}$1', B: "/a$&b$'c/${env:A}" });
  });

  test('each mentioned name is listed and asked once', async () => {
    const env = { A: '${env:ONE}${env:TWO}', B: '${env:ONE}', C: null };
    expect(mentionedEnvNames({ env })).toEqual(['ONE', 'TWO']);
    const asked: string[] = [];
    await expandPlaceholders({ ...source, env }, '/w', (name) => {
      asked.push(name);
      return Promise.resolve(undefined);
    });
    expect(asked).toEqual(['ONE', 'TWO']);
  });

  test('a name that may not be read rejects the expansion', async () => {
    const denied = () => Promise.reject(new Error('not granted'));
    await expect(expandPlaceholders({ ...source, env: { A: '${env:X}' } }, '/w', denied)).rejects.toThrow(
      'not granted',
    );
  });

  test('an env entry named __proto__ survives', async () => {
    const env = JSON.parse('{"__proto__":"${workspace}"}') as Record<string, string>;
    const expanded = await expandPlaceholders({ ...source, env }, '/w', readEnv({}));
    expect(Object.entries(expanded.env)).toEqual([['__proto__', '/w']]);
  });
});
