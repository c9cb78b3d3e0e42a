import { printable } from '../../../shared/printable.ts';

/** Somebody's text as one line of at most so many characters, for a log record or inside a message. */
export function printableLine(text: string, maxCharacters: number): string {
  const cut = text.length > maxCharacters ? `${text.slice(0, maxCharacters).toWellFormed()}…` : text;
  return printable(cut);
}
