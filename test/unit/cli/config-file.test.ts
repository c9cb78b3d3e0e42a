import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfigFile } from '../../../src/host/cli/config-file.ts';
import { loadConfig, restrictServers } from '../../../src/host/cli/load-config.ts';
import { pathInProblem } from '../../../src/host/problem-path.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const folder = makeWorkspace('config');

function write(text: string, name = 'caldera.json'): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('readConfigFile', () => {
  it('makes paths absolute from the folder of the file, and leaves what expands later', () => {
    const file = write(`{
      "mcp": { "servers": { "a": { "command": "./run", "cwd": "sub" }, "b": { "command": "x", "cwd": "\${workspace}/y" } } },
      "extensions": ["./one.ts", { "path": "two", "options": { "k": [1] }, "env": ["NAME"] }, "file:///three.mjs"]
    }`);
    const { config, problems } = readConfigFile(file, {});
    expect(problems).toEqual([]);
    expect(config.mcp.servers).toEqual({
      a: { command: './run', cwd: join(folder, 'sub') },
      b: { command: 'x', cwd: '${workspace}/y' },
    });
    expect(config.extensions).toEqual([
      { path: join(folder, 'one.ts') },
      { path: join(folder, 'two'), options: { k: [1] }, env: ['NAME'] },
      { path: 'file:///three.mjs' },
    ]);
  });

  it('expands variables in secrets, with values that hold $& too', () => {
    const file = write('{ "secrets": ["literal", "${env:A}", "a-${env:B}-${env:NONE}-b", "${env:NONE}"] }');
    expect(readConfigFile(file, { A: '$&$1$$', B: 'x' }).config.secrets).toEqual(['literal', '$&$1$$', 'a-x--b']);
  });

  it('refuses a secret that is too short to be hidden, without showing it', () => {
    expect(readConfigFile(write('{ "secrets": ["${env:PIN}"] }'), { PIN: '9876' }).problems).toEqual([
      expect.not.stringContaining('9876'),
    ]);
  });

  it('lists every problem in the order of its lines', () => {
    const file = write(`{
      "limits": { "textLine": 1,
        "textLines": -1 },
      "mcp": {
        "servers": { "a b": { "args": [1], "command": "x" } },
        "playwright": { "headless": 1 } },
      "extensions": [7, { "pth": "x" }],
      "secrets": "s",
      "mcpServers": {}
    }`);
    expect(readConfigFile(file, {}).problems.map((problem) => problem.slice(file.length + 1))).toEqual([
      '2: limits.textLine: unknown key; did you mean "textLines"?',
      '3: limits.textLines: must be at least 1',
      '5: mcp.servers["a b"].args[0]: must be a string, not a number',
      '6: mcp.playwright.headless: must be true or false, not a number',
      '7: extensions[0]: must be a path or { "path": "…" }, not a number',
      '7: extensions[1].pth: unknown key; did you mean "path"?',
      "7: extensions[1].path: is missing; give the extension's file or folder",
      '8: secrets: must be a list of strings, not a string',
      '9: mcpServers: unknown key; did you mean "mcp"?',
    ]);
  });

  it.each([
    ['[1]', ':1: must hold an object, not a list'],
    ['{ "mcp": 7 }', ':1: mcp: the options must be an object'],
    ['nonsense', ':1: this is no JSON'],
  ])('%s is a problem', (text, problem) => {
    expect(readConfigFile(write(text), {}).problems[0]).toContain(problem);
  });

  it('says when there is no such file, and when it is a folder', () => {
    expect(readConfigFile(join(folder, 'none.json'), {}).problems).toEqual([
      `${join(folder, 'none.json')}: cannot be read: there is no such file`,
    ]);
    expect(readConfigFile(folder, {}).problems).toEqual([`${folder}: cannot be read: it is a folder`]);
  });
});

describe('loadConfig', () => {
  it('gives the first file the word on a server, a limit and the waiting time, and adds up the rest', () => {
    const one = write(
      '{ "mcp": { "servers": { "a": { "command": "1" } } }, "limits": { "textLines": 1 }, "secrets": ["secret-1"] }',
      '1.json',
    );
    const two = write(
      '{ "mcp": { "servers": { "a": { "command": "2" }, "__proto__": { "command": "3" } }, "activationWaitSeconds": 2 }, "limits": { "textLines": 2, "textBytes": 2 }, "secrets": ["secret-2"] }',
      '2.json',
    );
    const config = loadConfig([one, two], {});
    expect(JSON.stringify(config)).toBe(
      '{"mcp":{"servers":{"a":{"command":"1"},"__proto__":{"command":"3"}},"activationWaitSeconds":2},"extensions":[],"extensionDirs":[],"limits":{"textLines":1,"textBytes":2},"secrets":["secret-1","secret-2"]}',
    );
  });

  it('throws the problems of all files as one error', () => {
    const files = [write('{ "x": 1 }', '1.json'), write('{ "y": 1 }', '2.json')];
    expect(() => loadConfig(files, {})).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(/2 problems:[\s\S]*1\.json:1: x[\s\S]*2\.json:1: y/) as unknown,
      }),
    );
  });

  it('without a file is empty', () => {
    expect(loadConfig([], {})).toEqual({
      mcp: { servers: {} },
      extensions: [],
      extensionDirs: [],
      limits: {},
      secrets: [],
    });
  });
});

describe('restrictServers', () => {
  it('leaves the named ones, and refuses a name that is not there', () => {
    const config = { ...loadConfig([], {}), mcp: { servers: { github: { command: 'x' }, files: { command: 'y' } } } };
    expect(restrictServers(config, ['files']).mcp.servers).toEqual({ files: { command: 'y' } });
    expect(restrictServers(config, [])).toBe(config);
    expect(() => restrictServers(config, ['githb'])).toThrow(
      '--server githb: no such server is configured; did you mean "github"?',
    );
  });
});

describe('pathInProblem', () => {
  it.each([
    ['servers.a-b.args[1]: must be', ['servers', 'a-b', 'args', 1]],
    ['servers["a: \\"b\\""].env["x y"]: must', ['servers', 'a: "b"', 'env', 'x y']],
    ['["odd key"]: unknown', ['odd key']],
    ['the options must be an object: no', []],
  ])('of %s', (problem, path) => {
    expect(pathInProblem(problem)).toEqual(path);
  });
});
