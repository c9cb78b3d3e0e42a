import type { Limits } from '../../shared/limits.ts';
import type { WireToolResult } from '../../shared/protocol.ts';
import type { Content } from '../../shared/tool.ts';
import type { Redactor } from './redactor.ts';

/** Of all text blocks together. Each one starts a line. */
interface TextSize {
  readonly lines: number;
  readonly bytes: number;
}

/**
 * The last step of a result on its way out: redacts its content, then cuts its text to the limits and says so in one note.
 * The thread has cut it before at the same limits plus an overlap, so a secret across the limit is still whole here.
 */
export function cutResult(
  result: Pick<WireToolResult, 'content' | 'text'>,
  redactor: Redactor,
  limits: Pick<Limits, 'textLines' | 'textBytes'>,
): { readonly content: readonly Content[]; readonly truncated: boolean } {
  const { content: given, text: total } = result;
  if (isShort(given, total, limits)) {
    const content = redactor.content(given);
    if (content === given) return { content, truncated: false };
  }
  const received = sizeOf(given);
  const wasCut =
    (total.lines > limits.textLines || total.bytes > limits.textBytes) &&
    (total.lines > received.lines || total.bytes > received.bytes);
  // The thread's cut can leave the head of a secret at the very end, where it is no match. Mostly that lies behind the
  // limit, but `[REDACTED]` is short, and a few of them pull it in front: what may be such a head is never shown.
  const content = redactor.content(given, wasCut ? redactor.longestBytes : 0);
  const { lines, bytes } = content === given ? received : sizeOf(content);
  if (!wasCut && lines <= limits.textLines && bytes <= limits.textBytes) return { content, truncated: false };
  const whole = { lines: Math.max(total.lines, lines), bytes: Math.max(total.bytes, bytes) };
  const room = { lines: limits.textLines, bytes: limits.textBytes };
  return { content: cutContent(content, room, whole), truncated: true };
}

/**
 * True when the thread's own count is within the limits and may be right. Counting again would be a tenth of what a 50 KB
 * result costs the main thread, and a thread that lies gains no more than the bytes its characters have beyond one each.
 */
function isShort(
  content: readonly Content[],
  total: TextSize,
  limits: Pick<Limits, 'textLines' | 'textBytes'>,
): boolean {
  if (total.lines > limits.textLines || total.bytes > limits.textBytes) return false;
  let characters = 0;
  for (const block of content) if (block.type === 'text') characters += block.text.length;
  return characters <= total.bytes;
}

/** Keeps the head; images stay where they are, text behind the cut goes. The note is the last line of the last text. */
function cutContent(content: readonly Content[], room: TextSize, whole: TextSize): readonly Content[] {
  const kept: Content[] = [];
  let shown: TextSize = { lines: 0, bytes: 0 };
  let noteAt: number | undefined;
  for (const block of content) {
    if (block.type !== 'text') kept.push(block);
    if (block.type !== 'text' || noteAt !== undefined) continue;
    const head = headOf(block.text, { lines: room.lines - shown.lines, bytes: room.bytes - shown.bytes });
    if (head.length < block.text.length || shown.lines >= room.lines) noteAt = kept.length;
    if (head !== '' || noteAt === undefined) {
      shown = { lines: shown.lines + linesOf(head), bytes: shown.bytes + Buffer.byteLength(head) };
    }
    kept.push({ type: 'text', text: head });
  }
  const note = noteOf(shown, whole);
  const last = noteAt ?? kept.findLastIndex((block) => block.type === 'text');
  const block = kept[last];
  if (block?.type !== 'text') return [...kept, { type: 'text', text: note }];
  const head = block.text === '' || block.text.endsWith('\n') ? block.text : `${block.text}\n`;
  return kept.with(last, { type: 'text', text: head + note });
}

function noteOf(shown: TextSize, whole: TextSize): string {
  const size = `${readable(shown.bytes)} of ${readable(whole.bytes)}`;
  return `[Output truncated: showing ${shown.lines} of ${whole.lines} lines (${size})]`;
}

function sizeOf(content: readonly Content[]): TextSize {
  let lines = 0;
  let bytes = 0;
  for (const block of content) {
    if (block.type !== 'text') continue;
    lines += linesOf(block.text);
    bytes += Buffer.byteLength(block.text);
  }
  return { lines, bytes };
}

function linesOf(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/** As many whole lines, then as many whole characters, as there is room for. */
function headOf(text: string, room: TextSize): string {
  if (room.lines <= 0 || room.bytes <= 0) return '';
  let end = -1;
  for (let line = 0; line < room.lines; line++) {
    end = text.indexOf('\n', end + 1);
    if (end < 0) break;
  }
  const head = end < 0 ? text : text.slice(0, end);
  if (Buffer.byteLength(head) <= room.bytes) return head;
  // encodeInto stops before the first character that does not fit; it never takes half of one.
  return head.slice(0, new TextEncoder().encodeInto(head, new Uint8Array(room.bytes)).read);
}

function readable(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)}KB`;
  return `${(bytes / (1024 * 1024)).toFixed(1)}MB`;
}
