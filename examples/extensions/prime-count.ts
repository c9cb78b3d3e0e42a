// Streams its progress. A call has one second of CPU time: more than this tool needs.
import { defineExtension } from 'caldera/extension';

const CHUNKS = 10;

export default defineExtension((api) => {
  api.registerTool({
    name: 'count_primes',
    description: 'Counts the primes below a number of at most 200,000.',
    parameters: { type: 'object', properties: { below: { type: 'integer' } }, required: ['below'] },
    execute: async (_callId, params, _signal, onUpdate) => {
      const below = Math.min(Number(params['below']), 200_000);
      let found = 0;
      for (let chunk = 0; chunk < CHUNKS; chunk++) {
        const from = Math.floor((below * chunk) / CHUNKS);
        const to = Math.floor((below * (chunk + 1)) / CHUNKS);
        for (let n = Math.max(2, from); n < to; n++) if (isPrime(n)) found += 1;
        onUpdate({ progress: chunk + 1, total: CHUNKS, message: `${found} primes below ${to}` });
      }
      return { content: [{ type: 'text', text: `${found} primes below ${below}` }] };
    },
  });
});

function isPrime(n: number): boolean {
  for (let divisor = 2; divisor * divisor <= n; divisor++) if (n % divisor === 0) return false;
  return true;
}
