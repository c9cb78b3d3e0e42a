/** The command line from source, in a process of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const HOOK = new URL('../../support/ts-worker-hook.mjs', import.meta.url).href;
const MAIN = fileURLToPath(new URL('../../../src/host/cli/main.ts', import.meta.url));

/** An extension with one tool for each way of speaking to the host. */
export const PROBE = fileURLToPath(new URL('../../fixtures/extensions/rpc-probe.mjs', import.meta.url));

export interface CommandLineOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const started = new Set<ChildProcessWithoutNullStreams>();

afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** Starts `caldera <words>`. What still lives at the end of the test file is killed. */
export function startCommandLine(
  words: readonly string[],
  { cwd, env = {} }: CommandLineOptions = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, ['--import', HOOK, MAIN, ...words], { cwd, env: { ...process.env, ...env } });
  child.stdin.on('error', () => undefined);
  started.add(child);
  child.on('exit', () => started.delete(child));
  return child;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `caldera <words>` to its end, with `input` on stdin. */
export async function runCommandLine(
  words: readonly string[],
  { input = '', ...options }: CommandLineOptions & { readonly input?: string } = {},
): Promise<Ended> {
  const child = startCommandLine(words, options);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.end(input);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.on('close', (...exit) => resolve(exit));
  });
  return { code, signal, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
}
