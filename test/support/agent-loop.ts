/** An agent: the AI SDK's own loop over the tools of a session, with a model that follows a script. */
import { dynamicTool, generateText, jsonSchema, stepCountIs, type ToolSet } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import type { JsonObject, Session, ToolResult } from '../../src/host/index.ts';

/** One turn of the model: a batch of tool calls, or its last words. */
export type ModelTurn = string | readonly { readonly name: string; readonly arguments?: JsonObject }[];

/** What the model was sent in one request. */
export type ModelRequest = MockLanguageModelV3['doGenerateCalls'][number];

export interface AgentRun {
  readonly text: string;
  readonly requests: readonly ModelRequest[];
}

/** The active tools of a session for the AI SDK; whatever a call comes back with is the model's to read. */
function toolsOf(session: Session): ToolSet {
  const active = new Set(session.activeTools);
  const offered = session.tools.filter(({ name }) => active.has(name));
  return Object.fromEntries(
    offered.map(({ name, description, parameters }) => [
      name,
      dynamicTool({
        description,
        inputSchema: jsonSchema(parameters as Parameters<typeof jsonSchema>[0]),
        execute: (input, { abortSignal }) =>
          session.callTool(
            { name, arguments: input as JsonObject },
            abortSignal === undefined ? {} : { signal: abortSignal },
          ),
        toModelOutput: ({ output }) => ({ type: 'content', value: partsOf(output as ToolResult) }),
      }),
    ]),
  );
}

function partsOf({ content }: ToolResult) {
  return content.map((block) =>
    block.type === 'text'
      ? { type: 'text' as const, text: block.text }
      : { type: 'image-data' as const, data: block.data, mediaType: block.mimeType },
  );
}

/** Runs the loop until the script is at its end. @throws what the loop throws, an abort for one */
export async function runAgent(
  session: Session,
  script: readonly ModelTurn[],
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<AgentRun> {
  let turn = 0;
  const model = new MockLanguageModelV3({
    doGenerate: async () => {
      const said = script[turn] ?? 'the script is at its end';
      turn += 1;
      return {
        content:
          typeof said === 'string'
            ? [{ type: 'text', text: said }]
            : said.map(({ name, arguments: args = {} }, i) => ({
                type: 'tool-call',
                toolCallId: `call-${turn}-${i}`,
                toolName: name,
                input: JSON.stringify(args),
              })),
        finishReason: { unified: typeof said === 'string' ? 'stop' : 'tool-calls', raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
          outputTokens: { total: 1, text: 1, reasoning: undefined },
        },
        warnings: [],
      };
    },
  });
  const { sections } = await session.beforeAgentStart({ prompt: 'go' });
  const { text } = await generateText({
    model,
    system: ['You are a test.', ...Object.values(sections)].join('\n\n'),
    prompt: 'go',
    tools: toolsOf(session),
    stopWhen: stepCountIs(script.length + 1),
    ...(signal === undefined ? {} : { abortSignal: signal }),
  });
  return { text, requests: model.doGenerateCalls };
}

/** What the tools have answered, as the last request of the run has it: a list of parts for each call, in the order of the calls. */
export function answersIn({ prompt }: ModelRequest): readonly unknown[][] {
  return prompt.flatMap((message) =>
    message.role === 'tool'
      ? message.content.flatMap((part) =>
          part.type === 'tool-result' && part.output.type === 'content' ? [[...part.output.value]] : [],
        )
      : [],
  );
}
