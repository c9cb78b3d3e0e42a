import type { Permissions, SandboxLimits, Tier } from '../../src/shared/sandbox.ts';

/**
 * - `contained`: it got nothing and broke nothing, and its call ended by itself.
 * - `killed`: it got nothing, and its call or its thread was ended for it; the next call works again.
 * - `documented-escape`: it got what it wanted. docs/security.md says so.
 */
export type Outcome = 'contained' | 'killed' | 'documented-escape';

/** What there is to reach, as `world` in an attack. */
export interface World {
  readonly hostPid: number;
  /** In the arguments of whatever is started, so that it is found later. */
  readonly marker: string;
  /** The extension's own folder, and the one that is none of its business. */
  readonly folder: string;
  readonly outside: string;
  readonly canaryFile: string;
  readonly canaryModule: string;
  readonly writeTarget: string;
  readonly agentDir: string;
  /** A loopback listener that nobody may reach. */
  readonly port: number;
}

/**
 * Where the attack runs:
 * - `call`: in a call of its tool.
 * - `chats`: in two calls of one chat, while another chat of the same extension keeps secrets before and between them.
 * - `start`: in the factory of one session; the others get a good one.
 * - `reload`: in eight calls at once, while the host gives the extension another thread.
 * - `storm`: in every factory, while one session after another is opened.
 */
export type Scenario = 'call' | 'chats' | 'start' | 'reload' | 'storm';

/**
 * An attack, and what comes of it in each tier. Its texts are plain JavaScript. `attack` is the body of a tool's `execute`, or
 * of the factory: it has `api`, `ctx`, `world` and `attempt(work)`, which notes what `work` gave.
 */
export interface HostileCase {
  readonly group: string;
  readonly name: string;
  readonly attack: string;
  readonly trusted: Outcome;
  readonly sandboxed: Outcome;
  readonly scenario?: Scenario;
  /** Statements outside of the factory, and in it. */
  readonly top?: string;
  readonly factory?: string;
  /** Requested, and granted by the operator. */
  readonly permissions?: Permissions;
  readonly limits?: Partial<SandboxLimits>;
  /** Beside its entry: contents of files, and where links lead (`canaryFile` and so on, or a path). */
  readonly files?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  /** What it must have said when sandboxed: with its grant it got so far, so it was the boundary that stopped it. */
  readonly reaches?: string;
  /** What it must not have said when sandboxed: no secret, but further than it may get. */
  readonly misses?: readonly string[];
  /** Where its call ends as an error by itself. One that does elsewhere has not come to its attack. */
  readonly throws?: readonly Tier[];
  /** How long the call may take altogether. Default 15 s. */
  readonly timeoutMs?: number;
}

/** As `top`. An import that waits for its turn would find `caldera` in no folder above. */
export const IMPORT_OWN = "import * as own from 'caldera/extension';";

/** Every way to a Node module that guests have used. */
export const routes = (name: string, use: string): string => `
  for (const route of [
    () => import('node:${name}'), () => import('${name}'), () => require('${name}'), () => process.getBuiltinModule('${name}'),
    () => Function('return process')().getBuiltinModule('${name}'), () => api.registerTool.constructor('return process')().getBuiltinModule('${name}'),
  ]) await attempt(async () => { const given = await route(); const m = given.default ?? given; ${use} });`;

/** Waits, where there is a clock. */
export const pause = (ms: number): string =>
  `await new Promise((done) => globalThis.setTimeout ? setTimeout(done, ${ms}) : done());`;
