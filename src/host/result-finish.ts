import { isErrorCode } from '../shared/errors.ts';
import { isRecord, type JsonValue } from '../shared/json.ts';
import type { WireToolResult } from '../shared/protocol.ts';
import type { CallOutcome, Content, ToolDescriptor, ToolResult, ToolResultDetails } from '../shared/tool.ts';

/** What the host does to everything a thread says: secrets out, then the final cut. */
export interface ResultPolicy {
  readonly redactText: (text: string) => string;
  /** Secrets out, then at most so many characters. */
  readonly cutText: (text: string, maxCharacters: number) => string;
  readonly redactJson: (value: unknown) => unknown;
  readonly redactContent: (content: readonly Content[]) => readonly Content[];
  readonly cut: (wire: WireToolResult) => { readonly content: readonly Content[]; readonly truncated: boolean };
}

const OUTCOMES: readonly unknown[] = ['done', 'not-sent', 'sent-unknown'] satisfies CallOutcome[];

/** Turns what crossed into the result a caller gets. */
export function finishResult(wire: WireToolResult, descriptor: ToolDescriptor, policy: ResultPolicy): ToolResult {
  const { content, truncated } = policy.cut(wire);
  const structured =
    wire.structuredContent === undefined ? undefined : (policy.redactJson(wire.structuredContent) as JsonValue);
  const given = wire.details === undefined ? {} : policy.redactJson(wire.details);
  return {
    content,
    isError: wire.isError,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    details: detailsOf(isRecord(given) ? given : {}, wire, descriptor, truncated),
  };
}

/** What an extension says in keys the host knows is believed only in their shape. */
function detailsOf(
  given: Readonly<Record<string, unknown>>,
  wire: WireToolResult,
  { source }: ToolDescriptor,
  truncated: boolean,
): ToolResultDetails {
  const { outcome, epoch, warnings, error, server: _server, tool: _tool, ...own } = given;
  return {
    ...(own as Record<string, JsonValue>),
    ...(source.server === undefined ? {} : { server: source.server }),
    ...(source.tool === undefined ? {} : { tool: source.tool }),
    outcome: OUTCOMES.includes(outcome) ? (outcome as CallOutcome) : 'done',
    truncated,
    images: wire.images,
    ...(typeof epoch === 'string' ? { epoch } : {}),
    ...(Array.isArray(warnings) ? { warnings: warnings.map(String) } : {}),
    ...(isRecord(error) && isErrorCode(error['code']) ? { error: { code: error['code'] } } : {}),
  };
}
