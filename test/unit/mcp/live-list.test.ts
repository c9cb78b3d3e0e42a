import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/shared/limits.ts';
import { parseMcpOptions, type ServerConfig } from '../../../src/shared/mcp-options.ts';
import type { Catalog } from '../../../src/worker/mcp/catalog/catalog.ts';
import { LiveList } from '../../../src/worker/mcp/catalog/live-list.ts';
import type { ClientPort } from '../../../src/worker/mcp/connection/client/client-port.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const [config] = parseMcpOptions({ servers: { demo: { command: 'x' } } }).config.servers;

function setUp() {
  const lists: Catalog[] = [];
  const debug: string[] = [];
  const ignore = (): void => {};
  const live = new LiveList({
    config: () => config as ServerConfig,
    limits: DEFAULT_LIMITS,
    logger: { info: ignore, warn: ignore, error: ignore, debug: (_, message) => void debug.push(message ?? '') },
    onList: (list) => void lists.push(list),
  });
  return { live, lists, debug };
}

/** A client whose lists are answered by hand, or at once. */
function client(answer: () => Promise<unknown> = () => Promise.resolve({ tools: [{ name: 'a' }] })) {
  const port = { asked: 0, onNotification: undefined as ClientPort['onNotification'] };
  const listTools = () => {
    port.asked += 1;
    return answer();
  };
  return Object.assign(port, { listTools }) as unknown as ClientPort & typeof port;
}

const changed = (port: ClientPort) => port.onNotification?.('notifications/tools/list_changed', {});
const passed = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('the live list of a server', () => {
  it('is read after a start, and once for announcements within 300 ms', async () => {
    const { live, lists } = setUp();
    const port = client();
    live.started(port);
    await passed(0);
    expect([port.asked, lists.length]).toEqual([1, 1]);
    await passed(10_000);
    for (let i = 0; i < 200; i += 1) changed(port);
    await passed(299);
    expect(port.asked).toBe(1);
    await passed(1);
    expect([port.asked, lists.length]).toEqual([2, 2]);
    await passed(60_000);
    expect(port.asked).toBe(2);
  });

  it('is read by one at a time, and once more for what came meanwhile', async () => {
    const { live } = setUp();
    const open: (() => void)[] = [];
    const port = client(() => new Promise((resolve) => open.push(() => resolve({ tools: [] }))));
    live.started(port);
    for (let i = 0; i < 50; i += 1) changed(port);
    await passed(5000);
    expect(port.asked).toBe(1);
    open.shift()?.();
    await passed(5000);
    expect(port.asked).toBe(2);
    open.shift()?.();
    await passed(5000);
    expect(port.asked).toBe(2);
  });

  it('is read ever more seldom in a storm, and as before after it', async () => {
    const { live } = setUp();
    const port = client();
    live.started(port);
    for (let i = 0; i < 1200; i += 1) {
      changed(port);
      await passed(100);
    }
    expect(port.asked).toBeLessThan(15);
    await passed(200_000);
    const before = port.asked;
    changed(port);
    await passed(300);
    expect(port.asked).toBe(before + 1);
  });

  it("of an older process is nobody's", async () => {
    const { live, lists } = setUp();
    const late: (() => void)[] = [];
    const old = client(() => new Promise((resolve) => late.push(() => resolve({ tools: [{ name: 'old' }] }))));
    live.started(old);
    const next = client();
    live.started(next);
    await passed(0);
    late.shift()?.();
    changed(old);
    await passed(10_000);
    expect(lists.map(({ tools }) => tools.map(({ mcpName }) => mcpName))).toEqual([['a']]);
    expect(old.asked).toBe(1);
  });

  it('that cannot be read changes nothing', async () => {
    const { live, lists, debug } = setUp();
    live.started(client(() => Promise.reject(new Error('no tools today'))));
    await passed(0);
    expect([lists, debug.length]).toEqual([[], 1]);
  });
});
