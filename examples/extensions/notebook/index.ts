// Keeps notes over sessions and restarts, and shows them with the command /notes.
import { defineExtension, storage } from 'caldera/extension';

export default defineExtension((api) => {
  const read = async (): Promise<string[]> => {
    const kept = await storage.get('notes');
    return Array.isArray(kept) ? kept.map(String) : [];
  };

  api.registerTool({
    name: 'write_note',
    description: 'Keeps a note for later sessions.',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    execute: async (_callId, params) => {
      const notes = [...(await read()), String(params['text'] as string)];
      await storage.set('notes', notes);
      return `${notes.length} notes are kept`;
    },
  });

  api.registerCommand('notes', {
    description: 'Shows the notes; "clear" removes them.',
    handler: async (args) => {
      if (args.trim() === 'clear') {
        await storage.delete('notes');
        return 'No notes are kept any more.';
      }
      const notes = await read();
      return notes.length === 0 ? 'There are no notes.' : notes.map((note, i) => `${i + 1}. ${note}`).join('\n');
    },
  });

  api.on('before_agent_start', async () => {
    const notes = await read();
    return notes.length === 0 ? {} : { sections: { notes: `Notes from earlier sessions:\n- ${notes.join('\n- ')}` } };
  });
});
