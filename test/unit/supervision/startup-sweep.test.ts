import { describe, expect, test } from 'vitest';
import { isLeftover, type SweepFacts } from '../../../src/host/thread/startup-sweep.ts';

const facts = (change: Partial<SweepFacts> = {}): SweepFacts => ({
  environment: ['PATH=/bin', 'CALDERA_OWNER=100:5000:0badcafe', 'CALDERA_THREAD=77:0badcafe:mcp#1'],
  sameUser: true,
  namespace: '77',
  ownNamespace: '77',
  ownerStart: () => undefined,
  ...change,
});

describe('a process is a leftover', () => {
  test('when its owner is gone', () => {
    expect(isLeftover(facts())).toBe(true);
  });

  test('when the pid of its owner is somebody else’s now', () => {
    expect(isLeftover(facts({ ownerStart: () => 5001 }))).toBe(true);
  });

  test('also when its environment has the owner only', () => {
    expect(isLeftover(facts({ environment: ['CALDERA_OWNER=100:5000:0badcafe'] }))).toBe(true);
  });
});

describe('a process is none', () => {
  test.each<[string, Partial<SweepFacts>]>([
    ['its owner lives', { ownerStart: (pid) => (pid === 100 ? 5000 : undefined) }],
    ['it is another user’s', { sameUser: false }],
    ['it lives in another pid namespace', { namespace: '78' }],
    ['its namespace is not told', { namespace: '', ownNamespace: '' }],
    [
      'its owner’s pid counts in another namespace',
      { environment: ['CALDERA_OWNER=100:5000:0badcafe', 'CALDERA_THREAD=78:0badcafe:mcp#1'] },
    ],
    ['it has no mark', { environment: ['PATH=/bin'] }],
    ['its mark is none of ours', { environment: ['CALDERA_OWNER=someone'] }],
    ['its mark names init', { environment: ['CALDERA_OWNER=1:0:x'] }],
    ['its mark has no start time', { environment: ['CALDERA_OWNER=100:0:0badcafe'] }],
  ])('when %s', (_why, change) => {
    expect(isLeftover(facts(change))).toBe(false);
  });
});
