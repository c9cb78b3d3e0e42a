import { describe, expect, it } from 'vitest';
import {
  type AdmittedProcess,
  ProcessAdmission,
} from '../../../src/worker/mcp/connection/process/process-admission.ts';
import { waitUntil } from '../../support/processes.ts';

const never = new AbortController().signal;

/** A process that has been idle since then; it leaves when it is asked to. */
function process(idleSince?: number): AdmittedProcess & { asked: number; leave: () => void } {
  const self = {
    asked: 0,
    leave: (): void => {},
    idleSince: () => idleSince,
    giveUp: () => {
      self.asked += 1;
      self.leave();
    },
  };
  return self;
}

const enter = async (admission: ProcessAdmission, who: ReturnType<typeof process>, signal = never) => {
  who.leave = await admission.enter(who, signal, 'starting it');
};

describe('the admission of processes', () => {
  it('lets in as many as there may be, then who waited longest', async () => {
    const admission = new ProcessAdmission(2);
    const [a, b, c, d] = [process(), process(), process(), process()];
    await enter(admission, a);
    await enter(admission, b);
    const order: string[] = [];
    const waiting = [enter(admission, c).then(() => order.push('c')), enter(admission, d).then(() => order.push('d'))];
    expect([admission.inside, admission.waiting]).toEqual([2, 2]);
    a.leave();
    b.leave();
    await Promise.all(waiting);
    expect([order, admission.inside]).toEqual([['c', 'd'], 2]);
  });

  it('ends the one that has been idle for the longest, and none that is in use', async () => {
    const admission = new ProcessAdmission(3, 1000);
    const now = performance.now();
    const [busy, older, newer] = [process(), process(now - 5000), process(now - 2000)];
    for (const one of [busy, newer, older]) await enter(admission, one);
    await enter(admission, process());
    expect([busy.asked, older.asked, newer.asked]).toEqual([0, 1, 0]);
    expect(admission.inside).toBe(3);
  });

  it('ends none that has been idle for less than its time, but does when the time has come', async () => {
    const admission = new ProcessAdmission(1, 400);
    const fresh = process(performance.now());
    await enter(admission, fresh);
    const waiting = enter(admission, process());
    expect(fresh.asked).toBe(0);
    await waiting;
    expect(fresh.asked).toBe(1);
    expect(performance.now()).toBeGreaterThanOrEqual(fresh.idleSince() ?? Number.POSITIVE_INFINITY);
  });

  it('asks no more of them to end than there are who wait', async () => {
    const admission = new ProcessAdmission(3, 0);
    const idle = [1, 2, 3].map((n) => process(-n));
    for (const one of idle) await enter(admission, one);
    for (const one of idle) one.leave = () => {};
    const aborting = new AbortController();
    const waiting = enter(admission, process(), aborting.signal).catch((error: unknown) => error);
    await waitUntil(() => idle.some(({ asked }) => asked > 0), 'one to be asked');
    expect(idle.map(({ asked }) => asked)).toEqual([0, 0, 1]);
    aborting.abort();
    expect(await waiting).toMatchObject({ code: 'ABORTED' });
    expect(admission.waiting).toBe(0);
  });

  it('refuses who gave up before, and follows another limit', async () => {
    const admission = new ProcessAdmission(1);
    await expect(enter(admission, process(), AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' });
    await enter(admission, process());
    const waiting = enter(admission, process());
    admission.setLimit(2);
    await waiting;
    expect(admission.inside).toBe(2);
  });
});
