import { CODE } from './attacks/code.ts';
import { CPU } from './attacks/cpu.ts';
import { FILES } from './attacks/files.ts';
import { LIFECYCLE } from './attacks/lifecycle.ts';
import { MEMORY } from './attacks/memory.ts';
import { NETWORK } from './attacks/network.ts';
import { PROCESS } from './attacks/process.ts';
import { PROTOCOL } from './attacks/protocol.ts';
import { SECRETS } from './attacks/secrets.ts';
import { THREAD } from './attacks/thread.ts';
import type { HostileCase } from './hostile-case.ts';

/** Every attack, by what it is after. A neighbour beside 100 good sessions is in neighbours.quiet.test.ts: it is measured. */
export const CASES: readonly HostileCase[] = [
  ...SECRETS,
  ...FILES,
  ...CODE,
  ...PROCESS,
  ...THREAD,
  ...NETWORK,
  ...CPU,
  ...MEMORY,
  ...PROTOCOL,
  ...LIFECYCLE,
];
