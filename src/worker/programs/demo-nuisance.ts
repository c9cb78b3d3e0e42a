/** The ill-behaved extension of `caldera demo`: floods its log, blocks its thread. It is loaded by path, in a thread of its own. */
import { defineExtension } from '../../shared/extension-api.ts';

const parameters = { type: 'object', properties: { records: { type: 'integer' } } };

export default defineExtension((api) => {
  api.registerTool({
    name: 'flood',
    description: 'Writes so many log records at once.',
    parameters,
    execute: (_callId, { records }) => {
      for (let i = 0; i < Number(records); i++) api.logger.debug(`record ${i}: ${'x'.repeat(200)}`);
      return 'flooded';
    },
  });
  api.registerTool({
    name: 'stall',
    description: 'Never gives its thread back.',
    parameters: { type: 'object' },
    execute: () => {
      for (;;) Math.random();
    },
  });
  api.registerTool({ name: 'alive', description: 'Answers.', parameters: { type: 'object' }, execute: () => 'alive' });
});
