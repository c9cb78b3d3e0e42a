import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { isAlive } from './processes.ts';

const HOOK = new URL('./ts-worker-hook.mjs', import.meta.url).href;
const started: number[] = [];

afterEach(() => {
  for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
});

/** A process in a group of its own that lives until it is ended; at the latest that is the end of the test. */
export function startSleeper({
  program = 'sleeper.mjs',
  args = [],
  env = {},
}: {
  readonly program?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
} = {}): { readonly pid: number; readonly marker: string } {
  const marker = randomUUID();
  const file = fileURLToPath(new URL(`../fixtures/programs/${program}`, import.meta.url));
  const child = spawn(process.execPath, ['--import', HOOK, file, ...args], {
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], SLEEPER: marker, ...env },
  });
  child.unref();
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} could not be started`);
  started.push(pid);
  return { pid, marker };
}
