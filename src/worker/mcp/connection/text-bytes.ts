/** The beginning of a text in at most so many UTF-8 bytes, cut on a character boundary. */
export function firstBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let to = maxBytes;
  while (to > 0 && isContinuation(bytes[to])) to -= 1;
  return bytes.toString('utf8', 0, to);
}

/** The same of its end. */
export function lastBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let from = bytes.length - maxBytes;
  while (isContinuation(bytes[from])) from += 1;
  return bytes.toString('utf8', from);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
