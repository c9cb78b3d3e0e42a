// A plain tool: no permission, no manifest, one file.
import { defineExtension } from 'caldera/extension';

export default defineExtension((api) => {
  api.registerTool({
    name: 'count_words',
    description: 'Counts the words and lines of a text.',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    annotations: { readOnlyHint: true },
    execute: async (_callId, params) => {
      const text = String(params['text'] as string);
      const words = text.split(/\s+/).filter((word) => word !== '').length;
      const lines = text === '' ? 0 : text.split('\n').length;
      return {
        content: [{ type: 'text', text: `${words} words, ${lines} lines` }],
        structuredContent: { words, lines },
      };
    },
  });
});
