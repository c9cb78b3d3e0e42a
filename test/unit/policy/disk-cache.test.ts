import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { DiskCache, type DiskCacheOptions } from '../../../src/host/policy/disk-cache.ts';
import { SharedCache } from '../../../src/host/policy/shared-cache.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

function setUp(folder = join(makeWorkspace('agent'), 'cache'), more: Partial<DiskCacheOptions> = {}) {
  const problems: string[] = [];
  const disk = new DiskCache({
    folder,
    version: '1',
    holdsSecret: (value) => JSON.stringify(value).includes('hunter2'),
    onProblem: (text) => void problems.push(text),
    ...more,
  });
  const files = () => readdirSync(folder);
  return { folder, disk, problems, files, cache: new SharedCache(disk) };
}

const owner = {};
const ask = { extension: 'mcp', key: 'k', owner, persist: true };

async function keep(cache: SharedCache, disk: DiskCache, value: unknown): Promise<void> {
  const answer = await cache.claim(ask);
  if (answer.state === 'produce') cache.settle(owner, answer.ticket, { ok: true, value });
  await disk.settled();
}

describe('a value that is kept on disk', () => {
  it('serves the next host without being produced', async () => {
    const first = setUp();
    await keep(first.cache, first.disk, { tools: [1] });
    const next = setUp(first.folder);
    expect(await next.cache.claim(ask)).toEqual({ state: 'value', value: { tools: [1] } });
    expect(first.files()).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/)]);
    expect(statSync(join(first.folder, first.files()[0] ?? '')).mode & 0o777).toBe(0o600);
  });

  it('is only for the extension, key and version it was kept for, and only when it is asked to persist', async () => {
    const first = setUp();
    await keep(first.cache, first.disk, 1);
    const claims = [
      { ...ask, extension: 'x' },
      { ...ask, key: 'x' },
      { ...ask, persist: false },
    ];
    for (const claim of claims) {
      expect((await setUp(first.folder).cache.claim(claim)).state).toBe('produce');
    }
    expect((await setUp(first.folder, { version: '2' }).cache.claim(ask)).state).toBe('produce');
  });

  it('is produced anew by the first who asks when it is older than a day; a failure leaves the old one', async () => {
    const first = setUp();
    await keep(first.cache, first.disk, 'old');
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + DAY_MS + 1);
    const { cache, disk } = setUp(first.folder);
    const answer = await cache.claim(ask);
    expect(answer).toMatchObject({ state: 'value', value: 'old', ticket: expect.any(Number) });
    expect(await cache.claim(ask)).toEqual({ state: 'value', value: 'old' });
    const ticket = answer.ticket ?? 0;
    cache.settle({}, ticket, { ok: true, value: 'forged' });
    cache.settle(owner, ticket, { ok: true, value: 'new' });
    expect(await cache.claim(ask)).toEqual({ state: 'value', value: 'new' });
    await disk.settled();
    expect(await setUp(first.folder).cache.claim(ask)).toEqual({ state: 'value', value: 'new' });
    vi.restoreAllMocks();
  });

  it('goes with a drop', async () => {
    const { cache, disk, files } = setUp();
    await keep(cache, disk, 1);
    cache.drop('mcp', 'k');
    expect((await cache.claim(ask)).state).toBe('produce');
    expect(files()).toEqual([]);
  });

  it('is not kept when it holds a secret', async () => {
    const { cache, disk, folder } = setUp();
    await keep(cache, disk, { description: 'the password is hunter2' });
    expect(() => readdirSync(folder)).toThrow('ENOENT');
  });

  it('is read by one and waited for by the others', async () => {
    const first = setUp();
    await keep(first.cache, first.disk, 'v');
    const { cache } = setUp(first.folder);
    const answers = await Promise.all(Array.from({ length: 5 }, () => cache.claim(ask)));
    expect(answers).toEqual(answers.map(() => ({ state: 'value', value: 'v' })));
  });

  it.each(['', '{', '[]', '{"version":"1","key":"k","savedAt":"x","value":1}', '{"version":"1","key":"other"}'])(
    'is nothing when its file says %j',
    async (text) => {
      const first = setUp();
      await keep(first.cache, first.disk, 1);
      writeFileSync(join(first.folder, first.files()[0] ?? ''), text);
      expect((await setUp(first.folder).cache.claim(ask)).state).toBe('produce');
    },
  );

  it('tells once when it cannot be written, and nothing else fails', async () => {
    const blocker = join(makeWorkspace('agent'), 'file');
    writeFileSync(blocker, '');
    const { cache, disk, problems } = setUp(join(blocker, 'cache'));
    await keep(cache, disk, 1);
    cache.drop('mcp', 'k');
    await keep(cache, disk, 2);
    expect(problems).toEqual([expect.stringContaining('cannot be written')]);
    expect(await cache.claim(ask)).toEqual({ state: 'value', value: 2 });
  });

  it('takes the place of files nobody has asked for in a month', async () => {
    const { cache, disk, folder, files } = setUp();
    const old = new Date(Date.now() - 40 * DAY_MS);
    mkdirSync(folder, { recursive: true });
    for (const name of ['old.json', 'half.json.x.tmp', 'mine.txt']) {
      writeFileSync(join(folder, name), '');
      utimesSync(join(folder, name), old, old);
    }
    await keep(cache, disk, 1);
    expect(files().sort()).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/), 'mine.txt']);
    expect(readFileSync(join(folder, files()[0] ?? ''), 'utf8')).toContain('"value":1');
  });
});

describe('a producer that dies', () => {
  it('hands over to the next who waits, who keeps it on disk as well', async () => {
    const { cache, disk, files } = setUp();
    const other = {};
    await cache.claim(ask);
    const waiting = cache.claim({ ...ask, owner: other });
    cache.release(owner);
    const answer = await waiting;
    expect(answer.state).toBe('produce');
    if (answer.state === 'produce') cache.settle(other, answer.ticket, { ok: true, value: 1 });
    await disk.settled();
    expect(files()).toHaveLength(1);
  });
});
