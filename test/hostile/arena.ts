/** Puts an attack into a host process with canaries around it, and looks at what came of it: effects, not messages. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { descendantsOf } from '../support/processes.ts';
import { makeWorkspace } from '../support/workspace.ts';
import type { HostileCase, Outcome } from './cases.ts';

export interface Effects {
  readonly secretSeen: boolean;
  readonly fileWritten: boolean;
  readonly hits: number;
  readonly hostDied: boolean;
  readonly isClean: boolean;
  readonly processesLeft: number;
  readonly gapMs: number;
  readonly bytes: number;
  readonly rssMb: number;
  /** The call was ended for it. */
  readonly wasEnded: boolean;
  /** The neighbour's answer, and the attacker's own next one. */
  readonly beside: string;
  readonly again: string;
  readonly ms: number;
  readonly text: string;
}

interface RunningHost {
  readonly child: ChildProcess;
  readonly lines: Interface;
  output: string;
}

const ENDED: readonly unknown[] = ['CALL_TIMEOUT', 'THREAD_EXITED', 'THREAD_STALLED', 'THREAD_MEMORY'];
const NEIGHBOUR = fileURLToPath(new URL('../fixtures/hostile/neighbour.mjs', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./host-program.ts', import.meta.url));
const HOOK = new URL('../support/ts-worker-hook.mjs', import.meta.url).href;

/** What it amounts to. */
export function outcomeOf(effects: Effects): Outcome {
  const { secretSeen, fileWritten, hits, hostDied, isClean } = effects;
  if (secretSeen || fileWritten || hits > 0 || hostDied || !isClean) return 'documented-escape';
  return effects.wasEnded ? 'killed' : 'contained';
}

export class Arena {
  readonly #folder = makeWorkspace('hostile');
  readonly #outside = makeWorkspace('outside');
  readonly #secrets = { token: secret(), file: secret(), net: secret() };
  readonly #server: Server;
  readonly #agentDir = makeWorkspace('agent');
  #hits = 0;
  #host: RunningHost | undefined;
  #count = 0;

  private constructor() {
    this.#server = createServer((_request, response) => response.end(this.#secrets.net));
    this.#server.on('connection', () => {
      this.#hits += 1;
    });
  }

  static async open(): Promise<Arena> {
    const arena = new Arena();
    await new Promise<void>((done) => arena.#server.listen(0, '127.0.0.1', done));
    writeFileSync(arena.#canaryFile, arena.#secrets.file);
    writeFileSync(arena.#canaryModule, `export const canary = '${arena.#secrets.file}';`);
    return arena;
  }

  async close(): Promise<void> {
    await this.#endHost();
    await new Promise((done) => this.#server.close(done).closeAllConnections());
  }

  async run({ attack }: HostileCase, tier: 'trusted' | 'sandboxed'): Promise<Effects> {
    const host = this.#host ?? this.#startHost();
    this.#host = host;
    const before = this.#hits;
    rmSync(this.#writeTarget, { force: true });
    this.#count += 1;
    const path = join(this.#folder, `attack${this.#count}.mjs`);
    writeFileSync(path, this.#extension(`attack${this.#count}`, attack, host.child.pid ?? 0));
    const seenAt = host.output.length;
    const answer = await this.#ask({ command: 'attack', path, tier });
    if (answer === undefined) this.#host = undefined;
    const text = typeof answer?.['text'] === 'string' ? answer['text'] : '';
    const said = text + host.output.slice(seenAt);
    return {
      secretSeen: Object.values(this.#secrets).some((value) => said.includes(value) || said.includes(reversed(value))),
      fileWritten: existsSync(this.#writeTarget) || readFileSync(this.#canaryFile, 'utf8') !== this.#secrets.file,
      hits: this.#hits - before,
      hostDied: answer === undefined,
      isClean: answer?.['isClean'] !== false,
      // The guard is the one process of a host.
      processesLeft:
        answer === undefined || host.child.pid === undefined
          ? 0
          : Math.max(0, descendantsOf(host.child.pid).length - 1),
      gapMs: Number(answer?.['gapMs'] ?? 0),
      bytes: Number(answer?.['bytes'] ?? 0),
      rssMb: Number(answer?.['rssMb'] ?? 0),
      wasEnded: ENDED.includes(answer?.['code']),
      beside: String(answer?.['beside'] ?? answer?.['failed']),
      again: JSON.stringify(answer?.['again'] ?? answer),
      ms: Number(answer?.['ms'] ?? 0),
      text: text.slice(0, 1000),
    };
  }

  get #canaryFile(): string {
    return join(this.#outside, 'canary.txt');
  }
  get #canaryModule(): string {
    return join(this.#outside, 'canary.mjs');
  }
  get #writeTarget(): string {
    return join(this.#outside, 'written.txt');
  }

  #extension(id: string, attack: string, hostPid: number): string {
    const world = {
      canaryFile: this.#canaryFile,
      canaryModule: this.#canaryModule,
      writeTarget: this.#writeTarget,
      port: (this.#server.address() as AddressInfo).port,
      hostPid,
    };
    return `export default (api) => {
  const world = ${JSON.stringify(world)};
  const parameters = { type: 'object' };
  api.registerTool({ name: 'ok_${id}', description: 'x', parameters, execute: async () => 'fine' });
  api.registerTool({
    name: 'attack_${id}', description: 'x', parameters,
    execute: async (callId, params, signal, onUpdate, ctx) => {
      const got = [];
      const attempt = async (work) => {
        // Backwards as well: what it read must not be hidden by redaction.
        try { const seen = String(await work()).slice(0, 20000); got.push(seen, [...seen].reverse().join('')); } catch (error) { try { got.push('no: ' + error); } catch {} }
      };
      ${attack}
      return { content: [{ type: 'text', text: 'ran: ' + got.join(' | ') }] };
    },
  });
};`;
  }

  #startHost(): RunningHost {
    const cwd = makeWorkspace();
    const child = spawn(process.execPath, ['--import', HOOK, PROGRAM, this.#agentDir, cwd, NEIGHBOUR], {
      env: { PATH: process.env['PATH'], HOME: this.#folder, HOSTILE_CANARY_TOKEN: this.#secrets.token },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const host = { child, lines: createInterface({ input: child.stdout }), output: '' };
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
  }
}

function secret(): string {
  return `canary${randomBytes(12).toString('hex')}`;
}

function reversed(text: string): string {
  return text.split('').reverse().join('');
}
