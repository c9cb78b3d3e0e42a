import { type HostileCase, pause, routes } from '../hostile-case.ts';

export const PROCESS: readonly HostileCase[] = [
  {
    group: 'process',
    name: 'exits',
    trusted: 'killed',
    sandboxed: 'contained',
    attack: 'await attempt(() => process.exit(9)); await attempt(() => quit(9)); await attempt(() => std.exit(9));',
  },
  {
    group: 'process',
    name: 'kills the host',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    attack: `await attempt(() => process.kill(process.pid, 'SIGKILL')); await attempt(() => os.kill(world.hostPid, 9)); ${pause(1000)}`,
  },
  {
    group: 'process',
    name: 'starts a program that does what it may not',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    attack: routes(
      'child_process',
      "m.spawn('touch', [world.writeTarget]); await new Promise((done) => setTimeout(done, 100));",
    ),
  },
  {
    group: 'process',
    name: 'forks a copy of its runtime, and dies beside it',
    trusted: 'killed',
    sandboxed: 'contained',
    files: { 'forever.mjs': 'setInterval(() => {}, 1000);' },
    attack: `${routes('child_process', "m.fork(world.folder + '/forever.mjs', [world.marker], { stdio: 'ignore', execArgv: [] });")}
      ${pause(200)} await attempt(() => process.exit(3)); await attempt(() => os.fork());`,
  },
  {
    group: 'process',
    name: 'leaves programs behind in sessions of their own (detached, setsid, orphaned), and dies',
    trusted: 'killed',
    sandboxed: 'contained',
    attack: `${routes(
      'child_process',
      `m.spawn('sleep', ['300', world.marker], { detached: true, stdio: 'ignore' }).unref();
       m.spawn('setsid', ['-f', 'sleep', '300', world.marker], { stdio: 'ignore' });
       m.execSync('(trap "" HUP TERM INT; setsid -f sleep 300 ' + world.marker + ') > /dev/null 2>&1 &');`,
    )} ${pause(200)} await attempt(() => process.exit(3));`,
  },
  {
    group: 'process',
    name: 'leaves an orphan behind that it has taken every mark from',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    attack: `${routes('child_process', "m.spawnSync('setsid', ['-f', 'env', '-i', '/bin/sleep', '300', world.marker], { stdio: 'ignore' });")} ${pause(200)} await attempt(() => process.exit(3));`,
  },
];
