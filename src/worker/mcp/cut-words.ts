/**
 * Cuts of text that is redacted later, on the host, where half a secret would be no match: a cut takes the whole word with it
 * that it falls into. Text without blanks is left out altogether.
 */

/** The beginning of a text in at most so many characters; an ellipsis when something is missing. */
export function headOfWords(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `${withoutLastWord(text.slice(0, maxCharacters))}…`;
}

/** What was cut off behind its end, without the word that was cut. */
export function withoutLastWord(text: string): string {
  const end = text.search(/\s\S*$/);
  return end < 0 ? '' : text.slice(0, end).trimEnd();
}

/** The same for what was cut off in front of its beginning. */
export function withoutFirstWord(text: string): string {
  const start = text.search(/\s/);
  return start < 0 ? '' : text.slice(start).trimStart();
}
