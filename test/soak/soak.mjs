/**
 * `npm run soak [-- --seconds 120]`: many sessions one after another, with and without a server each; servers killed at random
 * under calls; threads that die with children. In the end nothing may have grown or stayed: memory, descriptors, processes,
 * zombies, listeners, timers, ports. Runs against the built package. Exit code 1 when something has.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '120' } } });
const seconds = Number(values.seconds);

if (globalThis.gc === undefined) {
  // Every thread collects twice a second, so that what is left is what is held.
  const collect = 'data:text/javascript,globalThis.gc&&setInterval(gc,500).unref()';
  const again = ['--expose-gc', '--import', collect, ...process.argv.slice(1)];
  process.exit(spawnSync(process.execPath, again, { stdio: 'inherit' }).status ?? 1);
}

const { ExtensionHost, mcpExtension } = await import('../../dist/host/index.js');
const fixture = (name) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'caldera soak '));
const tiny = { command: '/bin/sh', args: [fixture('servers/tiny-server.sh')] };
const problems = [];

function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function below() {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .map(statOf)
    .filter(Boolean);
  const found = new Set([process.pid]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const { pid, parent } of all) if (found.has(parent) && !found.has(pid)) grown = Boolean(found.add(pid));
  }
  found.delete(process.pid);
  return all.filter(({ pid }) => found.has(pid));
}

async function measure(host) {
  await delay(700);
  gc();
  const children = below();
  const resources = process.getActiveResourcesInfo();
  return {
    heapKb: Math.round(process.memoryUsage().heapUsed / 1024),
    rssKb: Math.round(process.memoryUsage().rss / 1024),
    threadMb: Math.max(...host.inspect().extensions.flatMap(({ threads }) => threads.map(({ heapMb }) => heapMb))),
    fds: readdirSync('/proc/self/fd').length,
    processes: children.filter(({ state }) => state !== 'Z').length,
    zombies: children.filter(({ state }) => state === 'Z').length,
    timers: resources.filter((name) => name === 'Timeout').length,
    ports: resources.filter((name) => name === 'MessagePort').length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

function expectNoMore(phase, name, first, last, slack) {
  if (last[name] > first[name] + slack) problems.push(`${phase}: ${name} grew from ${first[name]} to ${last[name]}`);
}

/** Runs `work` on `lanes` lanes until the time is over; compares the second half's start with its end. */
async function phase(name, host, share, lanes, work, { perRound, slack = {} }) {
  const end = performance.now() + seconds * 1000 * share;
  const half = performance.now() + seconds * 500 * share;
  let rounds = 0;
  let failed = 0;
  const until = async (time) => {
    const lane = async (index) => {
      while (performance.now() < time) {
        try {
          await work(`${name} ${rounds++}`, index);
        } catch (error) {
          if (failed++ < 3) problems.push(`${name}: ${error.message}`);
        }
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
  };
  await until(half);
  const first = await measure(host);
  const from = rounds;
  await until(end);
  const last = await measure(host);
  for (const what of ['fds', 'processes', 'timers', 'ports', 'listeners'])
    expectNoMore(name, what, first, last, slack[what] ?? 2);
  if (slack.zombies === undefined && last.zombies > 0) problems.push(`${name}: ${last.zombies} zombies`);
  // A leak grows with what is done; what the collector and the allocator keep back does not.
  const grownKb = (last.heapKb - first.heapKb) / Math.max(1, rounds - from);
  if (grownKb > perRound && last.heapKb - first.heapKb > 2048)
    problems.push(`${name}: ${grownKb.toFixed(1)} KB of heap a round`);
  console.log(`${name}: ${rounds} rounds, ${failed} failed\n  ${JSON.stringify(first)}\n  ${JSON.stringify(last)}`);
}

function check(condition, message) {
  if (!condition) throw new Error(message);
}

const textOf = (result) => result.content.map(({ text }) => text).join('');
const newHost = async (name, options) => {
  const host = new ExtensionHost({ agentDir: join(folder, name), ...options });
  const { failures } = await host.start();
  check(failures.length === 0, `${name}: ${JSON.stringify(failures)}`);
  return host;
};

/** One session from its opening to its end. */
const session = (host, tool, expected) => async (id) => {
  const one = await host.openSession({ id, cwd: folder });
  const result = await one.callTool({ name: tool, arguments: {} });
  await one.close();
  check(expected.test(textOf(result)), `${id}: ${textOf(result)}`);
};

try {
  const extension = await newHost('extension', { extensions: [fixture('extensions/soaks.mjs')] });
  await phase('sessions', extension, 0.3, 8, session(extension, 'step', /^1$/), { perRound: 1 });
  await extension.close();

  const servers = await newHost('servers', { extensions: [mcpExtension({ servers: { tiny } })] });
  await phase('servers', servers, 0.3, 4, session(servers, 'count', /^1 \d+$/), { perRound: 2 });
  await servers.close();

  const killed = await newHost('kills', { extensions: [mcpExtension({ servers: { tiny } })] });
  const chats = await Promise.all(
    Array.from({ length: 8 }, async (_, i) => ({
      chat: await killed.openSession({ id: `chat ${i}`, cwd: folder }),
      n: 0,
      pid: 0,
    })),
  );
  await phase(
    'kills',
    killed,
    0.2,
    chats.length,
    async (id, index) => {
      const mine = chats[index];
      if (mine.pid && Math.random() < 0.1) process.kill(mine.pid, 'SIGKILL');
      const result = await mine.chat.callTool({ name: 'count', arguments: {} }, { timeoutMs: 30_000 });
      if (result.isError) {
        check(
          result.details?.error?.code === 'SERVER_EXITED' || result.details?.error?.code === 'STATE_LOST',
          `${id}: ${textOf(result)}`,
        );
        mine.pid = 0;
        return;
      }
      const [n, pid] = textOf(result).split(' ').map(Number);
      check(n === (pid === mine.pid ? mine.n + 1 : 1), `${id}: counted ${n} after ${mine.n}, by another server`);
      Object.assign(mine, { n, pid });
      await delay(20);
    },
    // Each chat has one server, or none at the moment of the measurement.
    { perRound: 1, slack: { processes: chats.length, fds: chats.length * 4, ports: chats.length } },
  );
  await killed.close();

  const dying = await newHost('deaths', {
    extensions: [fixture('extensions/soaks.mjs')],
    limits: { restartBackoffMs: [0], crashLoopDeaths: 1_000_000 },
  });
  const victim = await dying.openSession({ id: 'victim', cwd: folder });
  await phase(
    'deaths',
    dying,
    0.2,
    1,
    async (id) => {
      const how = Math.random() < 0.5 ? 'exit' : 'throw';
      const death = await victim.callTool({ name: 'die', arguments: { how } });
      check(death.isError && death.details?.error?.code === 'THREAD_EXITED', `${id}: ${textOf(death)}`);
      check(textOf(await victim.callTool({ name: 'step', arguments: {} })) === '1', `${id}: the thread is not back`);
    },
    // After process.exit() a thread cannot reap what was ended behind it: those stay zombies until the host's process ends.
    { perRound: 8, slack: { zombies: true } },
  );
  await dying.close();

  await delay(300);
  const left = below().filter(({ state }) => state !== 'Z');
  if (left.length > 0) problems.push(`${left.length} processes are left after the last host was closed`);
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
for (const problem of problems) console.log(`FAIL ${problem}`);
console.log(problems.length === 0 ? 'soak: nothing grew and nothing stayed' : `soak: ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
