import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ToolDescriptor, ToolResult } from '../../../src/host/index.ts';
import { fakeServer } from '../../support/fake-server.ts';
import { processesWith, waitUntil } from '../../support/processes.ts';
import { makeWorkspace } from '../../support/workspace.ts';
import { PROBE, runCommandLine, startCommandLine } from './command-line.ts';

/** Ends a broken test; each command starts a host and a server. */
const PATIENCE = { timeout: 60_000 };

let folder: string;
let common: readonly string[];

beforeAll(() => {
  folder = makeWorkspace('one shot');
  const servers = {
    fake: fakeServer('normal,big', { env: { MARK: folder } }),
    broken: fakeServer('crash-on-start', { env: { MARK: folder } }),
  };
  writeFileSync(join(folder, 'caldera.json'), JSON.stringify({ mcp: { servers } }));
  common = ['--config', join(folder, 'caldera.json'), '--agent-dir', join(folder, 'agent'), '--log-level', 'silent'];
});

const fake = (words: readonly string[], input = '') =>
  runCommandLine([...words, ...common, '--server', 'fake'], { cwd: folder, input });

describe('caldera tools', PATIENCE, () => {
  it('lists the tools by server, and what could not be offered, with exit code 1', async () => {
    const { code, stdout } = await runCommandLine(['tools', ...common, '--extension', PROBE], { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fake \(\d+\)\n {2}echo +Returns its text\.$/m);
    expect(stdout).toMatch(/^extension rpc-probe \(\d+\)$/m);
    expect(stdout).toMatch(/^Not offered:\n {2}broken: .*RuntimeError: no database.*\(SERVER_START_FAILED\)$/ms);
    expect(stdout).not.toContain('"properties"');
  });

  it('gives descriptors as one JSON document, or parameters with --schema', async () => {
    const [json, schema] = await Promise.all([fake(['tools', '--json']), fake(['tools', '--schema'])]);
    expect(json.code).toBe(0);
    const { tools, failures } = JSON.parse(json.stdout) as { tools: ToolDescriptor[]; failures: unknown[] };
    expect(failures).toEqual([]);
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({ parameters: { required: ['text'] } });
    expect(schema.stdout).toContain('"required": [');
  });

  it('says how to get tools when there are none', async () => {
    const { code, stdout } = await runCommandLine(['tools', '--agent-dir', join(folder, 'agent')], { cwd: folder });
    expect(code).toBe(0);
    expect(stdout).toContain('--config');
  });
});

describe('caldera call', PATIENCE, () => {
  it('takes its arguments as JSON, from a file and from stdin, and prints the text', async () => {
    writeFileSync(join(folder, 'arguments.json'), '{"text": "from a file"}');
    const [inline, file, stdin] = await Promise.all([
      fake(['call', 'echo', '{"text": "hello"}']),
      fake(['call', 'echo', '@arguments.json']),
      fake(['call', 'echo', '-'], '{"text": "from stdin"}'),
    ]);
    expect([inline, file, stdin].map(({ code, stdout }) => ({ code, stdout }))).toEqual([
      { code: 0, stdout: 'hello\n' },
      { code: 0, stdout: 'from a file\n' },
      { code: 0, stdout: 'from stdin\n' },
    ]);
  });

  it('writes images into files and never over another one', async () => {
    const out = join(folder, 'images');
    const first = await fake(['call', 'image', '--out', out]);
    const second = await fake(['call', 'image', '--out', out]);
    expect(first.stdout).toBe(`[image: ${join(out, 'image-1.png')}]\n`);
    expect(second.stdout).toBe(`[image: ${join(out, 'image-2.png')}]\n`);
    expect(readFileSync(join(out, 'image-2.png')).subarray(1, 4).toString()).toBe('PNG');
  });

  it('ends with 1 when the tool reports an error, in text and in JSON', async () => {
    const [text, json] = await Promise.all([
      fake(['call', 'fail', '{"text": "no such page"}', '--out', folder]),
      fake(['call', 'fail', '--json']),
    ]);
    expect(text).toMatchObject({ code: 1, stdout: expect.stringContaining('no such page') as unknown });
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout) as ToolResult).toMatchObject({
      isError: true,
      content: [{ type: 'text' }, { type: 'image' }],
    });
  });

  it('points to the parameters when arguments do not fit, and ends at its timeout', async () => {
    const [missing, slow] = await Promise.all([
      fake(['call', 'echo']),
      fake(['call', 'slow', '--timeout', '0.5', '--json']),
    ]);
    expect(missing).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"text" is required') as unknown,
      stderr: expect.stringContaining('caldera tools --schema') as unknown,
    });
    expect(JSON.parse(slow.stdout)).toMatchObject({ details: { error: { code: 'CALL_TIMEOUT' } } });
  });

  it('ends with 2 and says what to do for arguments that are no object and a tool that is not there', async () => {
    const wrong = await Promise.all([
      fake(['call', 'echo', '{text: 1}']),
      fake(['call', 'echo', '[1]']),
      fake(['call', 'echo', '@none.json']),
      fake(['call', 'eco']),
      fake(['call', 'echo', '{}', '--timeout', 'soon']),
    ]);
    expect(wrong.map(({ code, stdout }) => ({ code, stdout }))).toEqual(wrong.map(() => ({ code: 2, stdout: '' })));
    expect(wrong.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('@FILE'),
      expect.stringContaining('no JSON object'),
      expect.stringContaining('none.json cannot be read'),
      expect.stringContaining('did you mean "echo"?'),
      expect.stringContaining('number of seconds'),
    ]);
  });

  it('is ended by Ctrl-C with 130, without a result, and nothing is left', async () => {
    const child = startCommandLine(['call', 'slow', ...common, '--server', 'fake'], { cwd: folder });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    const running = () => processesWith(folder).filter((pid) => pid !== child.pid).length === 1;
    await waitUntil(running, 'the server of the call');
    child.kill('SIGINT');
    expect(await new Promise((resolve) => child.on('exit', (code) => resolve(code)))).toBe(130);
    expect(stdout).toBe('');
    await waitUntil(() => processesWith(folder).length === 0, 'no process is left');
  });
});

describe('caldera mcp', PATIENCE, () => {
  it('shows every server, or one in detail', async () => {
    const [all, one, json] = await Promise.all([
      runCommandLine(['mcp', ...common], { cwd: folder }),
      fake(['mcp', 'fake']),
      fake(['mcp', '--json']),
    ]);
    expect(all.code).toBe(0);
    expect(all.stdout).toMatch(/^fake: not started, \d+ tools$/m);
    expect(all.stdout).toMatch(/^broken: failed: /m);
    expect(one.stdout).toContain('server: fake-mcp-server 1.2.3');
    expect(JSON.parse(json.stdout)).toMatchObject({ text: expect.stringMatching(/^fake: /) as unknown, failures: [] });
  });

  it('ends with 2 for a server that is not there and names the nearest', async () => {
    expect(await fake(['mcp', 'fak'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('did you mean fake?') as unknown,
    });
  });
});

describe('--help of each command', PATIENCE, () => {
  it('has examples and the common options', async () => {
    for (const command of ['tools', 'call', 'mcp']) {
      const { code, stdout } = await runCommandLine([command, '--help']);
      expect(code).toBe(0);
      for (const word of ['Examples:', '--config', '--json', '--log-level']) expect(stdout).toContain(word);
    }
  });
});
