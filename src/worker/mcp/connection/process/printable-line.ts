import { printable } from '../../../../shared/printable.ts';
import { headOfWords } from '../../cut-words.ts';

/** Somebody's text as one line of at most so many characters, for a log record or inside a message. */
export function printableLine(text: string, maxCharacters: number): string {
  return printable(headOfWords(text, maxCharacters).toWellFormed());
}
