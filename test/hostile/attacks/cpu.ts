import type { HostileCase } from '../hostile-case.ts';

const killed = { group: 'cpu', trusted: 'killed', sandboxed: 'killed' } as const;

export const CPU: readonly HostileCase[] = [
  { ...killed, name: 'loops for ever', attack: 'for (;;);' },
  {
    ...killed,
    name: 'matches a regular expression that never ends',
    attack: "/^(a+)+$/.test('a'.repeat(60) + '!');",
  },
  { ...killed, name: 'chains promises for ever', attack: 'for (;;) await null;' },
  { ...killed, name: 'loops inside of a native function that asks nobody', attack: "for (;;) Array(1e9).join('');" },
  {
    ...killed,
    name: 'loops in a getter of its result',
    attack: "return { content: [{ type: 'text', get text() { for (;;); } }] };",
  },
  {
    ...killed,
    name: 'loops in toJSON of its result',
    attack: "return { content: [{ type: 'text', text: 'ran' }], structuredContent: { toJSON() { for (;;); } } };",
  },
  {
    ...killed,
    name: 'never settles',
    limits: { callMs: 1500 },
    timeoutMs: 3000,
    attack: 'await new Promise(() => {});',
  },
];
