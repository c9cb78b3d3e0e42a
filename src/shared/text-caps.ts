/**
 * The longest texts that cross beside results, in UTF-16 units. A thread cuts at these plus its overlap; the host redacts and
 * makes the final cut, so that a secret on the edge leaves no half behind.
 */
export const TEXT_CAPS = {
  logMessage: 8 * 1024,
  progressMessage: 4 * 1024,
  notice: 8 * 1024,
  status: 1024,
  questionTitle: 1024,
  questionText: 8 * 1024,
  questionOption: 1024,
} as const;

/** The thread's cut: the overlap is in bytes, and a character has at least one. */
export function cutWithOverlap(text: string, maxCharacters: number, overlapBytes: number): string {
  return text.slice(0, maxCharacters + overlapBytes).toWellFormed();
}
