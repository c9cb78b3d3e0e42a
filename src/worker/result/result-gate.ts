import { ExtensionHostError } from '../../shared/errors.ts';
import { isRecord, type JsonObject, type JsonValue } from '../../shared/json.ts';
import { copyJson } from '../../shared/json-copy.ts';
import type { Limits } from '../../shared/limits.ts';
import type { WireToolResult } from '../../shared/protocol.ts';
import type { Content } from '../../shared/tool.ts';
import { ImageGate } from './image.ts';
import { TextGate } from './text-gate.ts';

interface Caps {
  readonly limits: Limits;
  readonly overlapBytes: number;
}

/**
 * What an extension returned, as it may cross: plain data, copied with bounds, images checked, text cut. Whatever else was
 * returned becomes an error result that says so; it never throws, however odd the value.
 */
export function gateResult(tool: string, returned: unknown, caps: Caps): WireToolResult {
  try {
    if (typeof returned === 'string') return gate({ content: [{ type: 'text', text: returned }] }, caps);
    if (isRecord(returned) && Array.isArray(returned['content'])) return gate(returned, caps);
    return gateError(
      `Tool ${tool} returned ${describe(returned)}, which is no result: return { content: [...] } or a string.`,
      caps,
    );
  } catch (error) {
    const why = error instanceof ExtensionHostError ? error.message : 'it cannot be read';
    return gateError(`Tool ${tool} returned a value that is no result: ${why}.`, caps);
  }
}

/** An error result of one text. */
export function gateError(text: string, caps: Caps, details?: JsonObject): WireToolResult {
  return gate({ content: [{ type: 'text', text }], isError: true, ...(details ? { details } : {}) }, caps);
}

function gate(returned: Readonly<Record<string, unknown>>, { limits, overlapBytes }: Caps): WireToolResult {
  const images = new ImageGate(limits);
  const text = new TextGate(limits, overlapBytes);
  const content = collect(returned['content'] as readonly unknown[], images, text);
  const { structuredContent, details } = returned;
  return {
    content,
    isError: Boolean(returned['isError']),
    ...(structuredContent === undefined
      ? {}
      : { structuredContent: bounded('structuredContent', structuredContent, limits.structuredBytes, limits) }),
    ...(isRecord(details) ? { details: boundedDetails(details, limits) } : {}),
    text: { lines: text.lines, bytes: text.bytes },
    images: images.count,
  };
}

/** Keeps the order of blocks, joins adjacent text by newlines, names what is none of ours. */
function collect(blocks: readonly unknown[], images: ImageGate, text: TextGate): Content[] {
  const content: Content[] = [];
  let run: string[] = [];
  const flush = (): void => {
    if (run.length === 0) return;
    const admitted = text.admit(run.join('\n').toWellFormed());
    if (admitted !== undefined) content.push({ type: 'text', text: admitted });
    run = [];
  };
  for (const block of blocks) {
    // The hole of a sparse array.
    if (block === undefined) continue;
    const mapped = mapBlock(block, images);
    if (mapped.type === 'text') {
      run.push(mapped.text);
      continue;
    }
    flush();
    content.push(mapped);
  }
  flush();
  return content;
}

function mapBlock(block: unknown, images: ImageGate): Content {
  if (!isRecord(block)) return { type: 'text', text: '[malformed content omitted]' };
  const { type } = block;
  if (type === 'text') {
    return typeof block['text'] === 'string'
      ? { type: 'text', text: block['text'] }
      : { type: 'text', text: '[malformed text content omitted]' };
  }
  if (type === 'image') return images.admit(block['data'], block['mimeType']);
  return { type: 'text', text: `[${typeof type === 'string' ? type.slice(0, 64) : 'unknown'} content omitted]` };
}

function bounded(what: string, value: unknown, maxBytes: number, limits: Limits): JsonValue {
  const copied = copyJson(value, { maxDepth: limits.jsonDepth, maxBytes });
  return copied.ok ? copied.value : `[${what} omitted: ${copied.reason}]`;
}

/** Details over their cap are replaced whole; what the host acts on is small and kept. */
function boundedDetails(details: Readonly<Record<string, unknown>>, limits: Limits): JsonValue {
  const copied = copyJson(details, { maxDepth: limits.jsonDepth, maxBytes: limits.detailsBytes });
  if (copied.ok) return copied.value;
  const { outcome, epoch, error } = details;
  const kept = copyJson({ outcome, epoch, error }, { maxDepth: 3, maxBytes: 1024 });
  return { ...(kept.ok && isRecord(kept.value) ? kept.value : {}), note: `[details omitted: ${copied.reason}]` };
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object without a content array';
  return value === undefined ? 'nothing' : `a ${typeof value}`;
}
