// Uses a granted tool of the MCP server `notes` and writes a file into one folder of the workspace.
import { defineExtension, fs, mcp } from 'caldera/extension';

export default defineExtension((api) => {
  api.registerTool({
    name: 'report_notes',
    description: "Writes this chat's notes into reports/notes.md.",
    parameters: { type: 'object' },
    execute: async () => {
      const { content, isError } = await mcp.callTool('notes', 'list_notes');
      const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
      if (isError) throw new Error(`the notes cannot be read: ${text}`);
      await fs.writeFile('reports/notes.md', `# Notes\n\n${text}\n`);
      return 'reports/notes.md is written';
    },
  });
});
