import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PoolBench, SERVER_NAMES } from '../../support/pool-bench.ts';

/** `npm run test:pool` sets 2000. */
const RUNS = Number(process.env['CALDERA_INTERLEAVINGS'] ?? 15);

const seat = fc.nat({ max: 2 });
const server = fc.constantFrom(...SERVER_NAMES);

/** What a run is made of. Nothing waits for what it begins, but `pause` and `settle`. */
const Step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('call' as const), seat, server }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('crash' as const), seat, server }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('change' as const), server }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('close' as const), seat }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('stop' as const), seat, server }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pause' as const), ms: fc.nat({ max: 25 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('settle' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('expect' as const), seat, server }) },
);
type StepOf = typeof Step extends fc.Arbitrary<infer T> ? T : never;

async function take(bench: PoolBench, step: StepOf): Promise<void> {
  switch (step.do) {
    case 'call':
      bench.begin(bench.session(step.seat).call(step.server, undefined));
      break;
    case 'expect': {
      const session = bench.session(step.seat);
      bench.begin(session.call(step.server, bench.epochSeen(step.seat, step.server)));
      break;
    }
    case 'crash':
      bench.begin(bench.crash(step.seat, step.server));
      break;
    case 'change':
      bench.change(step.server);
      break;
    case 'close':
      bench.begin(bench.session(step.seat).close());
      break;
    case 'stop':
      bench.begin(bench.session(step.seat).connection(step.server)?.stop() ?? Promise.resolve());
      break;
    case 'pause':
      await delay(step.ms);
      break;
    case 'settle':
      await bench.settle();
      break;
  }
}

describe('the runtime pool', () => {
  // WF-RISK-LIFECYCLE, WF-POOL-CLOSE, WF-POOL-RECONNECT
  test('never lets two scopes share a process, nor a process outlive its lease, in whatever order things happen', {
    timeout: 30_000 + RUNS * 5000,
  }, async () => {
    const seen = { starts: 0, answers: 0, lost: 0, deaths: 0 };
    const property = fc.asyncProperty(fc.array(Step, { minLength: 6, maxLength: 30 }), async (steps) => {
      const bench = new PoolBench();
      try {
        for (const step of steps) await take(bench, step);
      } finally {
        await bench.end();
      }
      for (const key of Object.keys(seen) as (keyof typeof seen)[]) seen[key] += bench.seen[key];
      expect(bench.breaches).toEqual([]);
    });
    // A run depends on the machine's timing, so that shrinking would chase a shadow; the steps are reported as they were.
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    if (RUNS > 100) console.log(`${RUNS} interleavings: ${JSON.stringify(seen)}`);
    expect(seen.starts).toBeGreaterThan(RUNS);
    expect(seen.answers).toBeGreaterThan(RUNS);
    expect(seen.deaths).toBeGreaterThan(0);
  });

  // WF-POOL-CLOSE, WF-T4-FINGERPRINT
  test('ends a process whose fingerprint has changed before it starts the next one', async () => {
    const bench = new PoolBench();
    const session = bench.session(0);
    await session.call('own', undefined);
    const before = session.connection('own')?.status();
    bench.change('own');
    await session.call('own', before?.epoch);
    await session.call('own', undefined);
    expect(session.connection('own')?.status().epoch).not.toBe(before?.epoch);
    expect(bench.seen).toMatchObject({ starts: 2, answers: 2, lost: 1 });
    await bench.end();
    expect(bench.breaches).toEqual([]);
  });

  // WF-POOL-REUSE
  test('gives every call of a session the same process, and other sessions another one', async () => {
    const bench = new PoolBench();
    const [one, two] = [bench.session(0), bench.session(1)];
    for (const session of [one, two, one, two]) await session.call('wide', undefined);
    expect(bench.seen.starts).toBe(2);
    for (const session of [one, two, one, two]) await session.call('shared', undefined);
    expect(bench.seen.starts).toBe(3);
    await one.close();
    await two.call('shared', undefined);
    expect(bench.seen).toMatchObject({ starts: 3, answers: 9 });
    await bench.end();
    expect(bench.breaches).toEqual([]);
  });

  test('starts nothing for a session that was opened again before what the last one had is gone', async () => {
    const bench = new PoolBench();
    await bench.session(0).call('shared', undefined);
    bench.begin(bench.session(0).close());
    await bench.session(0).call('shared', undefined);
    expect(bench.seen.starts).toBe(2);
    await bench.end();
    expect(bench.breaches).toEqual([]);
  });
});
