import type { Content, ToolExecutionResult } from '../../shared/extension-api.ts';
import { isRecord, type JsonObject, type JsonValue } from '../../shared/json.ts';
import { utf8Length } from '../../shared/json-copy.ts';

/**
 * A guest's result within its bytes, spent in the order text, images, structuredContent, details. Text is cut at the end with a
 * note; what else does not fit is replaced by one. What is no result is handed on as it is, for the gate to name.
 */
export function fitResult(returned: unknown, maxBytes: number): ToolExecutionResult | string {
  if (typeof returned === 'string') return fitText(returned, maxBytes);
  if (!isRecord(returned) || !Array.isArray(returned['content'])) return returned as string;
  let left = maxBytes;
  const spend = (value: unknown): boolean => {
    const bytes = utf8Length(JSON.stringify(value));
    if (bytes > left) return false;
    left -= bytes;
    return true;
  };
  const blocks: readonly unknown[] = returned['content'];
  const content: unknown[] = [];
  for (const block of blocks) {
    if (spend(block)) {
      content.push(block);
      continue;
    }
    // What comes after it is left out with it: one note, however many blocks there are.
    const isText = isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string';
    content.push({ type: 'text', text: isText ? fitText(String(block['text']), left) : note('content', maxBytes) });
    left = 0;
    break;
  }
  const { structuredContent, details, isError } = returned;
  return {
    content: content as readonly Content[],
    ...(isError === undefined ? {} : { isError: Boolean(isError) }),
    ...(structuredContent === undefined
      ? {}
      : {
          structuredContent: (spend(structuredContent)
            ? structuredContent
            : note('structuredContent', maxBytes)) as JsonValue,
        }),
    ...(details === undefined
      ? {}
      : { details: (spend(details) ? details : { note: note('details', maxBytes) }) as JsonObject }),
  };
}

function fitText(text: string, maxBytes: number): string {
  if (utf8Length(text) <= maxBytes) return text;
  // A character of JSON text may be two.
  const head = Buffer.from(text.slice(0, maxBytes))
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
  return `${head}\n[cut: the result is larger than ${maxBytes} bytes]`;
}

function note(what: string, maxBytes: number): string {
  return `[${what} omitted: the result is larger than ${maxBytes} bytes]`;
}
