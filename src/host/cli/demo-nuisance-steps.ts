import { setTimeout as delay } from 'node:timers/promises';
import type { ExtensionHost, Session } from '../index.ts';
import type { ExtensionEntry } from '../options.ts';

const IS_SOURCE = import.meta.url.endsWith('.ts');

/** Its file stem is its id. */
const NUISANCE = 'demo-nuisance';

const FLOOD_RECORDS = 200_000;
const PAUSE_MS = 20;

/** The ill-behaved extension, by path as any other one. */
export const NUISANCE_EXTENSION: ExtensionEntry = {
  path: new URL(`../../worker/programs/${NUISANCE}.${IS_SOURCE ? 'ts' : 'js'}`, import.meta.url).href,
};

/** Short enough to watch; a host's own are five seconds and one. */
export const NUISANCE_LIMITS = { stallMs: 1500, stallWarnMs: 500 } as const;

/** What a chat saw while its neighbour's thread was in trouble. */
export interface Meanwhile {
  /** Calls of its own that were answered. */
  readonly answered: number;
  readonly slowestMs: number;
}

export type FloodStep = {
  readonly step: 'flood';
  readonly records: number;
  /** What the main thread was given of them. */
  readonly received: number;
} & Meanwhile;

export type StallStep = {
  readonly step: 'stall';
  /** What ended the call. */
  readonly code: string;
  /** Of the thread that answers again. */
  readonly generation: number;
} & Meanwhile;

export async function flood(
  host: ExtensionHost,
  session: Session,
  probe: () => Promise<unknown>,
): Promise<FloodStep & { readonly ok: boolean }> {
  let received = 0;
  const unsubscribe = host.on('log', ({ extension }) => {
    if (extension === NUISANCE) received++;
  });
  const call = session.callTool({ name: 'flood', arguments: { records: FLOOD_RECORDS } });
  const meanwhile = await callUntil(call, probe);
  unsubscribe();
  const { isError } = await call;
  return {
    step: 'flood',
    ok: !isError && received < FLOOD_RECORDS / 10,
    records: FLOOD_RECORDS,
    received,
    ...meanwhile,
  };
}

export async function stall(
  host: ExtensionHost,
  session: Session,
  probe: () => Promise<unknown>,
): Promise<StallStep & { readonly ok: boolean }> {
  let generation = 0;
  const unsubscribe = host.on('extension-state', (changed) => {
    if (changed.extension === NUISANCE) generation = changed.generation;
  });
  const call = session.callTool({ name: 'stall' });
  const meanwhile = await callUntil(call, probe);
  const code = (await call).details?.error?.code ?? 'none';
  const again = await session.callTool({ name: 'alive' });
  unsubscribe();
  const ok = code === 'THREAD_STALLED' && !again.isError && generation === 2 && meanwhile.answered > 0;
  return { step: 'stall', ok, code, generation, ...meanwhile };
}

/** Calls a neighbour again and again while `work` goes on. */
async function callUntil(work: Promise<unknown>, probe: () => Promise<unknown>): Promise<Meanwhile> {
  const done = work.then(() => true);
  let answered = 0;
  let slowestMs = 0;
  do {
    const from = performance.now();
    await probe();
    slowestMs = Math.max(slowestMs, performance.now() - from);
    answered++;
  } while (!(await Promise.race([done, delay(PAUSE_MS, false)])));
  return { answered, slowestMs: Math.round(slowestMs) };
}
