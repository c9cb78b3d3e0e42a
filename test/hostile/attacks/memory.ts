import { type HostileCase, pause } from '../hostile-case.ts';

/** So that the thread is seen while it grows: what it takes in one turn, nobody can look at. */
const BREATHE = pause(1);

export const MEMORY: readonly HostileCase[] = [
  {
    group: 'memory',
    name: 'fills the heap',
    trusted: 'killed',
    sandboxed: 'killed',
    attack: `const all = []; for (let i = 0; ; i++) { all.push('x'.repeat(1000) + i); if (i % 5000 === 0) ${BREATHE} }`,
  },
  {
    group: 'memory',
    name: 'fills buffers',
    trusted: 'killed',
    sandboxed: 'killed',
    attack: `const all = []; for (;;) { all.push(new Uint8Array(1 << 20).fill(1)); ${BREATHE} }`,
  },
  {
    group: 'memory',
    name: 'doubles strings',
    trusted: 'killed',
    sandboxed: 'killed',
    // A character is asked for, so that it is not left a tree of halves.
    attack: `const all = []; for (;;) { let s = 'double'; while (s.length < 1 << 22) { s += s; s.charCodeAt(s.length - 1); } all.push(s + all.length); all[all.length - 1].charCodeAt(1); ${BREATHE} }`,
  },
  {
    group: 'memory',
    name: 'doubles one string until none is longer',
    trusted: 'contained',
    sandboxed: 'killed',
    throws: ['trusted'],
    attack: "let s = 'double'; for (;;) s += s;",
  },
  {
    group: 'memory',
    name: 'floods with promises that never settle',
    trusted: 'killed',
    sandboxed: 'killed',
    attack: `const all = []; for (;;) { for (let i = 0; i < 5000; i++) { const held = new Array(200).fill(i); all.push(new Promise(() => {}).then(() => held)); } ${BREATHE} }`,
  },
  {
    group: 'memory',
    name: 'floods with promises that reject and that nobody looks at',
    trusted: 'killed',
    sandboxed: 'contained',
    attack: `for (let i = 0; i < 20000; i++) Promise.reject(new Error('flood ' + i)); ${pause(2000)}`,
  },
  {
    group: 'memory',
    name: 'returns 10 MB',
    throws: ['sandboxed'],
    trusted: 'contained',
    sandboxed: 'contained',
    attack: "return { content: [{ type: 'text', text: 'H'.repeat(10 << 20) }] };",
  },
  {
    group: 'memory',
    name: 'returns 100,000 levels',
    trusted: 'contained',
    sandboxed: 'killed',
    attack:
      "let v = 1; for (let i = 0; i < 1e5; i++) v = { v }; return { content: [{ type: 'text', text: 'ran' }], structuredContent: v };",
  },
  {
    group: 'memory',
    name: 'returns a cycle',
    throws: ['sandboxed'],
    trusted: 'contained',
    sandboxed: 'contained',
    attack: "const c = {}; c.c = c; return { content: [{ type: 'text', text: 'ran' }], structuredContent: c };",
  },
  {
    group: 'memory',
    name: 'registers 100,000 tools',
    trusted: 'killed',
    sandboxed: 'contained',
    attack:
      "for (let i = 0; i < 1e5; i++) { try { api.registerTool({ name: 't' + i, description: 'x', parameters: { type: 'object' }, execute: () => '' }); } catch { break; } }",
  },
  {
    group: 'memory',
    name: 'floods the log',
    trusted: 'killed',
    sandboxed: 'killed',
    attack: "for (;;) api.logger.warn('F'.repeat(1000));",
  },
  {
    group: 'memory',
    name: 'floods the chat with messages',
    trusted: 'killed',
    sandboxed: 'contained',
    attack: `for (let i = 0; i < 100000; i++) { try { api.sendMessage({ customType: 'x', content: 'F'.repeat(1000) }); } catch { break; } } ${pause(2500)}`,
  },
];
