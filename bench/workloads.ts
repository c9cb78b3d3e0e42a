/** One kind of call, made `calls` times with `inFlight` of them open at once. */
export interface Workload {
  readonly name: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string | number>>;
  readonly calls: number;
  readonly inFlight: number;
  /** Before the measurement: connections, caches, the compiler. */
  readonly warmUp: number;
  /** Caldera's main-thread CPU may be at most this much of the bare SDK's. Absent = reported only. */
  readonly mostRatio?: number;
}

const text = { tool: 'big', arguments: { kind: 'text' }, calls: 6000, warmUp: 4000 };
const image = { tool: 'big', arguments: { kind: 'image' }, calls: 20, warmUp: 5 };
const echo = { tool: 'echo', arguments: { text: 'hello' } };

export const WORKLOADS: readonly Workload[] = [
  { name: '50 KB text, 16 in flight', ...text, inFlight: 16, mostRatio: 0.5 },
  { name: '50 KB text, 1 in flight', ...text, inFlight: 1 },
  { name: '4 MB image, 1 in flight', ...image, inFlight: 1, mostRatio: 0.15 },
  { name: 'echo, 100 in flight', ...echo, calls: 20_000, inFlight: 100, warmUp: 10_000 },
  { name: 'echo, 1 in flight', ...echo, calls: 6000, inFlight: 1, warmUp: 4000 },
];
