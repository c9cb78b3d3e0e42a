import { type HostileCase, pause, routes } from '../hostile-case.ts';

export const THREAD: readonly HostileCase[] = [
  {
    group: 'thread',
    name: 'debugs the main thread through the inspector',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    attack: routes(
      'inspector',
      `const debug = new m.Session();
       debug.connectToMainThread();
       const seen = await new Promise((done) => debug.post('Runtime.evaluate', { expression: 'process.env.HOSTILE_CANARY_TOKEN' }, (error, { result }) => done(error ?? result.value)));
       debug.disconnect();
       return seen;`,
    ),
  },
  {
    group: 'thread',
    name: 'starts a worker of its own, which is not watched',
    trusted: 'documented-escape',
    sandboxed: 'contained',
    attack: `${routes(
      'worker_threads',
      "const w = new m.Worker('require(\"fs\").writeFileSync(' + JSON.stringify(world.writeTarget) + ', \"x\")', { eval: true }); await new Promise((done) => w.once('exit', done));",
    )} await attempt(() => new Worker('data:text/javascript,1')); await attempt(() => new SharedWorker('x')); await attempt(() => new os.Worker('x'));`,
  },
  {
    group: 'thread',
    name: 'talks and listens on BroadcastChannels',
    trusted: 'contained',
    sandboxed: 'contained',
    attack: `const heard = [];
      await attempt(async () => {
        const channels = ['', 'caldera', 'comlink', 'piscina', 'worker', 'control', 'session'].map((name) => new BroadcastChannel(name));
        for (const channel of channels) {
          channel.onmessage = ({ data }) => heard.push(JSON.stringify(data));
          for (let i = 0; i < 2000; i++) channel.postMessage({ note: { type: 'log', level: 'error', message: 'forged' }, id: String(i), type: 'RAW', value: { ok: true } });
        }
        ${pause(300)}
        for (const channel of channels) channel.close();
      });
      await attempt(() => heard.join(' '));`,
  },
  {
    group: 'thread',
    name: 'posts forged messages on every port it finds',
    trusted: 'contained',
    sandboxed: 'contained',
    attack: `${routes('worker_threads', "for (const port of [m.parentPort, m.workerData && m.workerData.control]) port.postMessage({ note: { type: 'commit', commit: {} }, id: 1, result: 'forged' });")} await attempt(() => postMessage({ forged: true }));`,
  },
];
