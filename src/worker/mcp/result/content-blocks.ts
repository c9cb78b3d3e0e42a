import { isRecord } from '../../../shared/json.ts';
import { printable } from '../../../shared/printable.ts';
import type { Content } from '../../../shared/tool.ts';

/**
 * One content block of a server as the host knows it. What has no place in a result is named by a text, so that its
 * neighbours are kept and nothing is lost in silence. Images pass as they are: whoever sends the result on looks at the bytes.
 */
export function mapBlock(block: unknown): Content {
  if (!isRecord(block)) return omitted('[malformed content omitted]');
  const { type } = block;
  switch (type) {
    case 'text':
      return typeof block['text'] === 'string' ? { type, text: block['text'] } : malformed(type);
    case 'image':
      return typeof block['data'] === 'string'
        ? { type, data: block['data'], mimeType: textOr(block['mimeType'], '') }
        : malformed(type);
    case 'audio':
      return typeof block['data'] === 'string'
        ? omitted(`[audio omitted: ${mimeOf(block)}, ${decodedBytes(block['data'])} bytes]`)
        : malformed(type);
    case 'resource':
      return mapResource(block['resource']);
    case 'resource_link':
      return mapLink(block);
    default:
      return typeof type === 'string' && type !== '' ? malformed(type) : omitted('[malformed content omitted]');
  }
}

function mapResource(resource: unknown): Content {
  if (!isRecord(resource)) return malformed('resource');
  const uri = label(resource['uri'], 'without a URI');
  if (typeof resource['text'] === 'string') return { type: 'text', text: `Resource ${uri}:\n${resource['text']}` };
  if (typeof resource['blob'] !== 'string') return malformed('resource');
  return omitted(`[resource ${uri}: ${mimeOf(resource)}, ${decodedBytes(resource['blob'])} bytes omitted]`);
}

function mapLink(block: Readonly<Record<string, unknown>>): Content {
  if (typeof block['uri'] !== 'string') return malformed('resource_link');
  const name = label(block['name'], '');
  return { type: 'text', text: `Resource link: ${label(block['uri'], '')}${name === '' ? '' : ` (${name})`}` };
}

function malformed(type: string): Content {
  return omitted(`[${label(type, 'unknown')} content omitted]`);
}

function omitted(text: string): Content {
  return { type: 'text', text };
}

function mimeOf(block: Readonly<Record<string, unknown>>): string {
  return label(block['mimeType'], 'unknown type');
}

/** A server's word inside a sentence of ours: on one line. URIs stay whole, since a model may have to use them. */
function label(value: unknown, fallback: string): string {
  if (typeof value !== 'string' || value === '') return fallback;
  return printable(value);
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}

/** How many bytes a base64 text stands for, without decoding it: an omitted block may be megabytes long. */
export function decodedBytes(base64: string): number {
  const start = base64.startsWith('data:') ? base64.indexOf(',') + 1 : 0;
  let digits = 0;
  for (let i = start; i < base64.length; i++) if (isDigit(base64.charCodeAt(i))) digits += 1;
  return Math.floor((digits * 3) / 4);
}

/** Both alphabets; padding and whitespace stand for nothing. */
function isDigit(unit: number): boolean {
  return (
    (unit >= 48 && unit <= 57) ||
    (unit >= 65 && unit <= 90) ||
    (unit >= 97 && unit <= 122) ||
    unit === 43 ||
    unit === 45 ||
    unit === 47 ||
    unit === 95 // + - / _
  );
}
