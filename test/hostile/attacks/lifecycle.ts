import { type HostileCase, pause } from '../hostile-case.ts';

const start = { group: 'lifecycle', scenario: 'start', trusted: 'killed', sandboxed: 'killed' } as const;
const onStart = (body: string): string => `api.on('session_start', async () => { ${body} });`;
const exit = 'await attempt(() => process.exit(0));';

export const LIFECYCLE: readonly HostileCase[] = [
  { ...start, name: 'exits in its factory', sandboxed: 'contained', attack: exit },
  { ...start, name: 'loops in its factory', attack: 'for (;;);' },
  { ...start, name: 'never settles in its factory', limits: { callMs: 1000 }, attack: 'await new Promise(() => {});' },
  { ...start, name: 'exits in session_start', sandboxed: 'contained', attack: onStart(exit) },
  { ...start, name: 'loops in session_start', attack: onStart('for (;;);') },
  {
    ...start,
    name: 'never settles in session_start',
    limits: { callMs: 1000 },
    attack: onStart('await new Promise(() => {});'),
  },
  {
    group: 'lifecycle',
    name: 'answers late when the host ends its thread while calls are open',
    scenario: 'reload',
    trusted: 'killed',
    sandboxed: 'killed',
    attack: `await new Promise((done) => {
        const speak = () => { for (const say of [() => onUpdate({ message: 'late' }), () => api.sendMessage({ customType: 'late', content: 'late' }), () => ctx.ui.notify('late')]) try { say(); } catch {} done(); };
        signal.addEventListener('abort', speak);
        ctx.signal.addEventListener('abort', speak);
        if (globalThis.process) process.on('exit', speak);
      });
      ${pause(1)}`,
  },
  {
    group: 'lifecycle',
    name: 'dies at every start (respawn storm)',
    scenario: 'storm',
    trusted: 'killed',
    sandboxed: 'killed',
    // A guest cannot end its thread, but by a native loop that cannot be interrupted.
    attack: "if (globalThis.process) setTimeout(() => process.exit(1), 0); else for (;;) Array(1e9).join('');",
  },
];
