/** Puts an attack into a host process with canaries around it, and looks at what came of it: effects, not messages. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { descendantsOf, processesWith, waitUntil } from '../support/processes.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { writeAttacker } from './attacker.ts';
import { Canaries } from './canaries.ts';
import type { Effects } from './effects.ts';
import type { HostileCase, World } from './hostile-case.ts';

interface RunningHost {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly lines: Interface;
  output: string;
}

const NEIGHBOUR = fileURLToPath(new URL('../fixtures/hostile/neighbour.mjs', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./host-program.ts', import.meta.url));
const HOOK = new URL('../support/ts-worker-hook.mjs', import.meta.url).href;
const ATTACKS_PER_HOST = 12;
/** A process that was ended is gone by then. */
const GONE_MS = 1000;

export class Arena {
  readonly #folder = makeWorkspace('hostile');
  readonly #canaries: Canaries;
  #host: RunningHost | undefined;
  #count = 0;

  private constructor(canaries: Canaries) {
    this.#canaries = canaries;
  }

  static async open(): Promise<Arena> {
    return new Arena(await Canaries.open());
  }

  async close(): Promise<void> {
    await this.#endHost();
    await this.#canaries.close();
  }

  async run(hostile: HostileCase, tier: 'trusted' | 'sandboxed'): Promise<Effects> {
    // What was loaded stays: each session would have an instance of every attacker before.
    if (this.#count % ATTACKS_PER_HOST === 0) await this.#endHost();
    const host = this.#host ?? this.#startHost();
    this.#host = host;
    const canaries = this.#canaries;
    const before = canaries.hits;
    canaries.mend();
    this.#count += 1;
    const id = `attack${this.#count}`;
    const world = this.#world(id, host.pid);
    await writeAttacker(id, hostile, world);
    const seenAt = host.output.length;
    const { scenario = 'call', timeoutMs = 15_000 } = hostile;
    const answer = await this.#ask({
      command: scenario,
      path: world.folder,
      tier,
      timeoutMs,
      secret: canaries.secrets.chat,
      chat: makeWorkspace(canaries.secrets.chat),
    });
    if (answer === undefined) this.#host = undefined;
    const text = typeof answer?.['text'] === 'string' ? answer['text'] : '';
    return {
      secretSeen: canaries.isSecretIn(text + host.output.slice(seenAt)),
      fileWritten: canaries.isWritten,
      hits: canaries.hits - before,
      hostDied: answer === undefined,
      isClean: answer?.['isClean'] !== false,
      processesLeft: await processesLeft(answer === undefined ? undefined : host.pid, world.marker),
      gapMs: Number(answer?.['gapMs'] ?? 0),
      bytes: Number(answer?.['bytes'] ?? 0),
      rssMb: Number(answer?.['rssMb'] ?? 0),
      wasEnded: answer?.['wasEnded'] === true,
      isError: answer?.['isError'] === true,
      beside: String(answer?.['beside'] ?? answer?.['failed']),
      again: JSON.stringify(answer?.['again'] ?? answer),
      ms: Number(answer?.['ms'] ?? 0),
      text,
    };
  }

  #world(id: string, hostPid: number): World {
    const { outside, file, module, writeTarget, agentDir, port } = this.#canaries;
    return {
      hostPid,
      // As an argument of `sleep` it has to be a number.
      marker: `0.${randomInt(2 ** 40)}`,
      folder: join(this.#folder, id),
      outside,
      canaryFile: file,
      canaryModule: module,
      writeTarget,
      agentDir,
      port,
    };
  }

  #startHost(): RunningHost {
    const { network, agentDir, secrets } = this.#canaries;
    const preloads = ['--import', HOOK, '--import', network];
    const child = spawn(process.execPath, [...preloads, PROGRAM, agentDir, makeWorkspace(), NEIGHBOUR], {
      env: { PATH: process.env['PATH'], HOME: this.#folder, HOSTILE_CANARY_TOKEN: secrets.token },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    if (child.pid === undefined) throw new Error('the host did not start');
    const host = { child, pid: child.pid, lines: createInterface({ input: child.stdout }), output: '' };
    child.stdin.on('error', () => undefined);
    child.stderr.on('data', (chunk: Buffer) => {
      host.output = (host.output + chunk.toString('utf8')).slice(-1_000_000);
    });
    return host;
  }

  /** `undefined` when the host died of it. */
  async #ask(command: object): Promise<Record<string, unknown> | undefined> {
    const host = this.#host;
    if (!host) return undefined;
    const answer = new Promise<Record<string, unknown> | undefined>((resolve) => {
      const ended = (): void => resolve(undefined);
      host.child.once('exit', ended);
      host.lines.once('line', (line) => {
        host.child.off('exit', ended);
        resolve(JSON.parse(line) as Record<string, unknown>);
      });
    });
    host.child.stdin?.write(`${JSON.stringify(command)}\n`);
    return answer;
  }

  async #endHost(): Promise<void> {
    const child = this.#host?.child;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((done) => child.once('exit', done));
    await this.#ask({ command: 'close' });
    await ended;
    this.#host = undefined;
  }
}

/** Below the host, where its guard is the only one that may be, and wherever the marker is. What is left is ended here. */
async function processesLeft(hostPid: number | undefined, marker: string): Promise<number> {
  const left = (): readonly number[] => {
    const below = hostPid === undefined ? [] : descendantsOf(hostPid);
    const marked = processesWith(marker);
    return [...marked, ...below.filter((pid) => !marked.includes(pid)).slice(1)];
  };
  await waitUntil(() => left().length === 0, 'their end', { timeoutMs: GONE_MS }).catch(() => undefined);
  const count = left().length;
  for (const pid of processesWith(marker)) process.kill(pid, 'SIGKILL');
  return count;
}
