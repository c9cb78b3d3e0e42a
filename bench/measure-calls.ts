/** `measure-calls.ts <bare|caldera> <workload>`: one side, one workload, in this fresh process; prints JSON. */
import { mainThreadCpuMs } from './main-thread-cpu.ts';
import { bareSdk, caldera, type Side } from './sides.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

/** What a call costs, on the average of a workload. */
export interface CallCost {
  /** CPU of the main thread. */
  readonly mainMs: number;
  readonly wallMs: number;
}

async function run(side: Side, workload: Workload, calls: number): Promise<void> {
  let left = calls;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await side.call(workload);
    }
  };
  await Promise.all(Array.from({ length: workload.inFlight }, one));
}

const [name, wanted] = process.argv.slice(2);
const workload = WORKLOADS.find((one) => one.name === wanted);
if (!workload) throw new Error(`no workload ${wanted}`);
const side = await (name === 'bare' ? bareSdk() : caldera());
await run(side, workload, workload.warmUp);
const [cpu, wall] = [mainThreadCpuMs(), performance.now()];
await run(side, workload, workload.calls);
const cost: CallCost = {
  mainMs: (mainThreadCpuMs() - cpu) / workload.calls,
  wallMs: (performance.now() - wall) / workload.calls,
};
await side.close();
process.stdout.write(`${JSON.stringify(cost)}\n`);
