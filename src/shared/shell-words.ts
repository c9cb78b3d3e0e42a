/**
 * Splits a line into words as a shell does: at blanks, quotes honoured (`--device "iPhone 15"` is two words), a backslash
 * keeps the next character outside single quotes. Nothing is expanded. `undefined` when a quote is left open.
 */
export function shellWords(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  let kept = false;
  for (const character of line) {
    if (kept) {
      // Within double quotes a backslash is itself, but before what would mean something there.
      word = `${word ?? ''}${quote === '"' && !/["\\$`]/.test(character) ? '\\' : ''}${character}`;
      kept = false;
    } else if (character === '\\' && quote !== "'") {
      kept = true;
    } else if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else word = `${word ?? ''}${character}`;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = `${word ?? ''}${character}`;
    }
  }
  if (quote !== undefined) return undefined;
  if (kept) word = `${word ?? ''}\\`;
  return word === undefined ? words : [...words, word];
}
