/** Controls but tab and newline, line separators and bidi controls: what can forge lines or drive a terminal. */
const UNPRINTABLE = /(?![\t\n])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Escapes what a terminal or a log viewer would act on (`\u001b`); tabs and newlines stay. */
export function escapeControls(text: string): string {
  return text.toWellFormed().replace(UNPRINTABLE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same as one line of at most `maxCharacters`, for log records: newlines are escaped too. */
export function printableLine(text: string, maxCharacters: number): string {
  const cut = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
  return escapeControls(cut).replaceAll('\n', '\\n');
}
