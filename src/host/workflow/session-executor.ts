import { type ErrorCode, ExtensionHostError } from '../../shared/errors.ts';
import type { JsonObject } from '../../shared/json.ts';
import type { ToolDescriptor, ToolResult } from '../../shared/tool.ts';
import type { Session } from '../session.ts';
import { THREAD_DEATHS } from '../thread/thread-causes.ts';
import { connectionOf, isStateful } from './capability.ts';
import type { ToolCallOptions, ToolCallOutcome, ToolExecutor, ToolOutput } from './tool-executor.ts';

/** The process behind the call is gone, and what it held with it. */
const PROCESS_GONE: ReadonlySet<ErrorCode> = new Set(['SERVER_EXITED', 'SESSION_CLOSED', ...THREAD_DEATHS]);

/** Calls tools by connection on one session, so that every call of a run meets the same processes. */
export class SessionExecutor implements ToolExecutor {
  readonly #session: Pick<Session, 'tools' | 'callTool'>;
  #indexed: readonly ToolDescriptor[] | undefined;
  #index: ReadonlyMap<string, ToolDescriptor> = new Map();

  constructor(session: Pick<Session, 'tools' | 'callTool'>) {
    this.#session = session;
  }

  async callTool(
    connectionId: string,
    toolName: string,
    payload: JsonObject,
    { signal, onProgress, expectEpoch }: ToolCallOptions = {},
  ): Promise<ToolCallOutcome> {
    const descriptor = this.#find(connectionId, toolName);
    if (!descriptor) {
      const message = `There is no tool ${toolName} of connection ${connectionId} in this session.`;
      return { outcome: 'error', message, output: { content: message }, epoch: '' };
    }
    const result = await this.#session.callTool(
      { name: descriptor.name, arguments: payload },
      {
        ...(signal === undefined ? {} : { signal }),
        ...(onProgress === undefined ? {} : { onProgress }),
        ...(expectEpoch === undefined || !isStateful(descriptor) ? {} : { expectEpoch }),
      },
    );
    return outcomeOf(result);
  }

  #find(connectionId: string, toolName: string): ToolDescriptor | undefined {
    const { tools } = this.#session;
    // The list is frozen and replaced as a whole, so its identity says whether the index is still right.
    if (this.#indexed !== tools) {
      const index = new Map<string, ToolDescriptor>();
      for (const descriptor of tools) {
        const found = connectionOf(descriptor);
        const key = keyOf(found.connectionId, found.tool);
        if (!index.has(key)) index.set(key, descriptor);
      }
      this.#index = index;
      this.#indexed = tools;
    }
    return this.#index.get(keyOf(connectionId, toolName));
  }
}

function keyOf(connectionId: string, tool: string): string {
  return `${connectionId}\0${tool}`;
}

function outcomeOf(result: ToolResult): ToolCallOutcome {
  const { isError, details } = result;
  const epoch = details?.epoch ?? '';
  const output = outputOf(result);
  if (!isError) return { outcome: 'ok', output, epoch };
  const message = output.content;
  const code = details?.error?.code;
  // Without a server it is the session itself that has ended, and a run has nothing left to run on.
  if (code === 'SESSION_CLOSED' && details?.server === undefined)
    throw new ExtensionHostError('SESSION_CLOSED', message);
  if (code === 'STATE_LOST') return { outcome: 'state_lost', message, epoch };
  if (code === 'CALL_TIMEOUT') return { outcome: 'timeout', message, epoch };
  if (code !== undefined && PROCESS_GONE.has(code)) return { outcome: 'server_exited', message, epoch };
  return { outcome: 'error', message, output, epoch };
}

function outputOf({ content, structuredContent }: ToolResult): ToolOutput {
  const texts: string[] = [];
  const images: { readonly data: string; readonly mimeType: string }[] = [];
  for (const block of content) {
    if (block.type === 'text') texts.push(block.text);
    else images.push({ data: block.data, mimeType: block.mimeType });
  }
  return {
    content: texts.join('\n'),
    ...(structuredContent === undefined ? {} : { structured: structuredContent }),
    ...(images.length === 0 ? {} : { images }),
  };
}
