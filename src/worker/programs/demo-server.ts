/**
 * The MCP server behind `caldera demo`: it keeps notes in memory, one process a chat, and can be crashed and kept busy.
 * A child process of its own; nothing imports it.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';

const TICK_MS = 100;
const CRASH_CODE = 7;

const notes: string[] = [];
let calls = 0;
let cancelled = 0;

const tools: Tool[] = [
  {
    name: 'add_note',
    description: 'Keeps a note for this chat.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
  {
    name: 'list_notes',
    description: 'Lists the notes of this chat.',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'count',
    description: 'Counts notes, calls and cancelled calls since the server started.',
    inputSchema: { type: 'object' },
    outputSchema: {
      type: 'object',
      properties: Object.fromEntries(['notes', 'calls', 'cancelled', 'pid'].map((name) => [name, { type: 'integer' }])),
    },
    annotations: { readOnlyHint: true },
  },
  { name: 'crash', description: 'Ends the server in the middle of the call.', inputSchema: { type: 'object' } },
  {
    name: 'slow',
    description: 'Takes so many seconds and tells its progress; can be cancelled.',
    inputSchema: { type: 'object', properties: { seconds: { type: 'number' } }, required: ['seconds'] },
  },
];

const server = new Server({ name: 'caldera-demo-notes', version: '1.0.0' }, { capabilities: { tools: {} } });

server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));

server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification, _meta }) => {
  calls++;
  const token = _meta?.progressToken;
  const tell = async (progress: number, total: number): Promise<void> => {
    if (token === undefined) return;
    await sendNotification({ method: 'notifications/progress', params: { progressToken: token, progress, total } });
  };
  switch (params.name) {
    case 'add_note':
      notes.push(String(params.arguments?.['text']));
      return text(`${notes.length} ${notes.length === 1 ? 'note' : 'notes'}`);
    case 'list_notes':
      return text(notes.length === 0 ? 'no notes' : notes.join('\n'));
    case 'count': {
      const counts = { notes: notes.length, calls, cancelled, pid: process.pid };
      return { ...text(JSON.stringify(counts)), structuredContent: counts };
    }
    case 'crash':
      return crash();
    case 'slow':
      return slow(Number(params.arguments?.['seconds']), signal, tell);
    default:
      return { ...text(`there is no tool ${params.name}`), isError: true };
  }
});

function crash(): never {
  process.stderr.write('demo server: ended on purpose, with everything it knew\n');
  process.exit(CRASH_CODE);
}

async function slow(
  seconds: number,
  signal: AbortSignal,
  tell: (progress: number, total: number) => Promise<void>,
): Promise<CallToolResult> {
  signal.addEventListener('abort', () => {
    cancelled++;
  });
  const total = Math.ceil((seconds * 1000) / TICK_MS);
  for (let tick = 1; tick <= total; tick++) {
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    if (signal.aborted) break;
    await tell(tick, total);
  }
  return text(`took ${seconds} s`);
}

function text(value: string): CallToolResult {
  return { content: [{ type: 'text', text: value }] };
}

await server.connect(new StdioServerTransport());
// The host ends a server by closing its stdin; the transport does not listen for that.
process.stdin.on('end', () => process.exit(0));
