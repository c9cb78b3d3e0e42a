import { MIN_OVERLAP_BYTES, type Redactor } from './redactor.ts';

/**
 * The last step of a text beside results (log, progress, notice, command): secrets out, then the final cut. A thread has cut
 * it before, at the same cap plus its overlap; what may be the head of a secret at that place is never shown.
 */
export function cutText(text: string, maxCharacters: number, redactor: Redactor): string {
  if (text.length <= maxCharacters) return redactor.text(text);
  const wasCut = text.length >= maxCharacters + MIN_OVERLAP_BYTES;
  const [block] = redactor.content([{ type: 'text', text }], wasCut ? redactor.longestBytes : 0);
  const clean = block?.type === 'text' ? block.text : '';
  // What redaction has shortened to below the cap is whole, unless the thread cut it.
  if (clean.length <= maxCharacters) return wasCut ? `${clean}…` : clean;
  return `${clean.slice(0, endsInHalf(clean, maxCharacters) ? maxCharacters - 1 : maxCharacters)}…`;
}

function endsInHalf(text: string, end: number): boolean {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00;
}
