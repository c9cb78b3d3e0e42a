// Written as a string: a literal with control characters in it is what linters (rightly) refuse.
const UNPRINTABLE =
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f' + // C0 without tab and newline, DEL, C1
  '\\u061c\\u200e\\u200f' + // Arabic, left-to-right and right-to-left marks
  '\\u2028\\u2029' + // line and paragraph separators
  '\\u202a-\\u202e\\u2066-\\u2069'; // bidi embeddings, overrides and isolates

const KEEPING_NEWLINES = new RegExp(`[${UNPRINTABLE}]`, 'g');
const ONE_LINE = new RegExp(`[\\n${UNPRINTABLE}]`, 'g');

/**
 * Makes text that somebody else wrote safe for a log line or a terminal: control characters (ANSI, OSC, NUL, C1), line
 * separators and bidi controls become text such as `\u{1b}`. Tabs stay, newlines only with `keepNewlines`. The result is
 * for eyes: it cannot be turned back.
 */
export function printable(text: string, options: { readonly keepNewlines?: boolean } = {}): string {
  const pattern = options.keepNewlines === true ? KEEPING_NEWLINES : ONE_LINE;
  return text.replace(pattern, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}
