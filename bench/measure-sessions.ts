/** `measure-sessions.ts <count>`: opens so many sessions of one server in this fresh process; prints JSON. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExtensionHost, mcpExtension, type Session } from 'caldera';
import { FAKE_SERVER } from './fake-server.ts';
import { mainThreadCpuMs } from './main-thread-cpu.ts';

/** What an open session costs the main thread, on the average. */
export interface SessionCost {
  readonly sessions: number;
  readonly mainMs: number;
  /** Heap of the main thread after a collection. */
  readonly heapKb: number;
  readonly wallMs: number;
}

const AT_ONCE = 50;

const count = Number(process.argv[2]);
const { gc } = globalThis;
if (!gc) throw new Error('run it with --expose-gc');
const folder = mkdtempSync(join(tmpdir(), 'caldera-bench-'));
const host = new ExtensionHost({
  agentDir: join(folder, 'agent'),
  extensions: [mcpExtension({ servers: { fake: FAKE_SERVER } })],
});
// The first one discovers the server; the others share what it found.
const sessions: Session[] = [await host.openSession({ id: 'first', cwd: folder })];
gc();
const heapBefore = process.memoryUsage().heapUsed;
const [cpu, wall] = [mainThreadCpuMs(), performance.now()];
for (let from = 0; from < count; from += AT_ONCE) {
  const ids = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => `session ${from + i}`);
  sessions.push(...(await Promise.all(ids.map((id) => host.openSession({ id, cwd: folder })))));
}
const [mainMs, wallMs] = [mainThreadCpuMs() - cpu, performance.now() - wall];
gc();
const cost: SessionCost = {
  sessions: count,
  mainMs: mainMs / count,
  heapKb: (process.memoryUsage().heapUsed - heapBefore) / 1024 / count,
  wallMs: wallMs / count,
};
if (sessions.some(({ tools }) => tools.length === 0)) throw new Error('a session has no tools');
await host.close();
rmSync(folder, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify(cost)}\n`);
