import type { ToolExecutionResult } from '../../../shared/extension-api.ts';
import { isRecord, type JsonObject, type JsonValue } from '../../../shared/json.ts';
import type { Content } from '../../../shared/tool.ts';
import { mapBlock } from './content-blocks.ts';
import type { OutputCheck } from './output-check.ts';

const NO_OUTPUT = '(no output)';

export interface AnsweredCall {
  /** The server's name in the configuration. */
  readonly server: string;
  /** The tool's name at the server. */
  readonly tool: string;
  readonly epoch: string;
  /** Absent for a tool without an output schema. */
  readonly outputCheck?: OutputCheck;
}

/**
 * Makes a raw `tools/call` answer a result. Never throws and never guesses: only `isError: true` is an error, and an answer
 * that breaks its own schema keeps its text and gets a warning. Caps on text and images are applied behind it.
 */
export function mapResult(raw: unknown, { server, tool, epoch, outputCheck }: AnsweredCall): ToolExecutionResult {
  const details: JsonObject = { server, tool, outcome: 'done', epoch };
  if (!isRecord(raw)) {
    const text = `${tool} was answered with something that is no tool result.`;
    return { content: [{ type: 'text', text }], isError: true, details: { ...details, error: { code: 'PROTOCOL' } } };
  }
  const isError = raw['isError'] === true;
  const structured = raw['structuredContent'] ?? undefined;
  const mapped = joinText(blocksOf(raw['content']).map(mapBlock));
  const content = isBlank(mapped) ? [onlyText(structured)] : mapped;
  // The schema speaks of successes alone.
  const mismatch = isError ? undefined : outputCheck?.mismatch(structured);
  return {
    content,
    isError,
    ...(structured === undefined ? {} : { structuredContent: structured as JsonValue }),
    details: mismatch === undefined ? details : { ...details, warnings: [mismatch] },
  };
}

/** A lone block or a bare text where a list belongs is still what the server had to say. */
function blocksOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  if (content === undefined || content === null) return [];
  return typeof content === 'string' ? [{ type: 'text', text: content }] : [content];
}

/** Adjacent text becomes one block; the order of blocks stays. */
function joinText(blocks: readonly Content[]): Content[] {
  const joined: Content[] = [];
  let run: string[] = [];
  const flush = (): void => {
    if (run.length > 0) joined.push({ type: 'text', text: run.join('\n') });
    run = [];
  };
  for (const block of blocks) {
    if (block.type === 'text') run.push(block.text);
    else {
      flush();
      joined.push(block);
    }
  }
  flush();
  return joined;
}

/** True for content that says nothing: providers refuse a text block of blanks, so it counts as none. */
function isBlank(content: readonly Content[]): boolean {
  return content.every((block) => block.type === 'text' && block.text.trim() === '');
}

function onlyText(structured: unknown): Content {
  if (structured === undefined) return { type: 'text', text: NO_OUTPUT };
  try {
    return { type: 'text', text: JSON.stringify(structured) };
  } catch {
    // JSON.parse takes any depth, JSON.stringify some thousand levels.
    return { type: 'text', text: '[structured content omitted: it is nested too deeply]' };
  }
}
