import type { Outcome } from './hostile-case.ts';

/** What came of an attack, as seen from outside of its thread. */
export interface Effects {
  readonly secretSeen: boolean;
  readonly fileWritten: boolean;
  /** Connections to listeners that nobody may reach. */
  readonly hits: number;
  readonly hostDied: boolean;
  /** The main thread's prototypes and globals are as they were, and nothing came for a call that was over. */
  readonly isClean: boolean;
  readonly processesLeft: number;
  /** Longest delay of the host's event loop. */
  readonly gapMs: number;
  readonly bytes: number;
  readonly rssMb: number;
  /** The call, or the thread, was ended for it. */
  readonly wasEnded: boolean;
  /** The call ended as an error. */
  readonly isError: boolean;
  /** The neighbour's answer, and the attacker's own next one. */
  readonly beside: string;
  readonly again: string;
  readonly ms: number;
  readonly text: string;
}

/** What it amounts to. */
export function outcomeOf(effects: Omit<Effects, 'text'>): Outcome {
  const { secretSeen, fileWritten, hits, hostDied, isClean, processesLeft } = effects;
  if (secretSeen || fileWritten || hits > 0 || hostDied || !isClean || processesLeft > 0) return 'documented-escape';
  return effects.wasEnded ? 'killed' : 'contained';
}
