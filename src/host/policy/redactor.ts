import type { Content } from '../../shared/tool.ts';
import { stringsOf, withStrings } from './json-strings.ts';
import { formsOf } from './secret-forms.ts';
import { MIN_SECRET_LENGTH, secretsIn } from './secret-values.ts';

/** What stands for a secret. */
const REDACTED = '[REDACTED]';

/** Measured for 50 KB of text and 1,300 forms: 0.8 ms with 64 in each expression, 6.7 ms with all of them in one. */
const HEADS_PER_EXPRESSION = 64;

/** Expressions look for so much of a form and the rest is compared: V8 refuses one that holds a few long forms whole. */
const HEAD_LENGTH = 32;

/** Threads are told their overlap once, at their start: room for what is learnt later (`${env:NAME}`). */
export const MIN_OVERLAP_BYTES = 4096;

/** Between the strings of a value, so that no secret is found across two of them. */
const STRING_END = '\u0000';

/** From `start` to before `end`, in UTF-16 units. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Replaces secrets, in every form of theirs, by `[REDACTED]` in whatever leaves the host. Line breaks do not hide a
 * secret: it is found when it is wrapped, or split over lines or text blocks. Which values are secrets is decided by the
 * caller (`SpawnPolicy.removedBy`, `SpawnPolicy.handedOut`, the configured list); of a URL only the password is taken.
 */
export class Redactor {
  readonly #secrets = new Set<string>();
  /** Without line breaks, as the text is when it is searched. */
  readonly #forms = new Set<string>();
  #longestBytes = 0;
  #shortest = Number.POSITIVE_INFINITY;
  #search: Search | undefined;

  constructor(secrets: Iterable<string> = []) {
    this.add(secrets);
  }

  /** Adds secrets while running; those under six characters are ignored. */
  add(values: Iterable<string>): void {
    for (const value of values) {
      for (const secret of secretsIn(value)) {
        if (!this.#secrets.has(secret)) this.#learn(secret);
      }
    }
  }

  /** How far a thread has to cut behind a cap, in UTF-8 bytes: the longest form, and room for secrets that come later. */
  get overlapBytes(): number {
    return Math.max(MIN_OVERLAP_BYTES, this.#longestBytes);
  }

  /** The longest form there is now, in UTF-8 bytes, line breaks included that it may be wrapped with. 0 = no secrets. */
  get longestBytes(): number {
    return this.#longestBytes;
  }

  /** Redacts one text. */
  text(text: string): string {
    const spans = this.#find(text);
    return spans.length === 0 ? text : replaced(text, 0, spans, 0);
  }

  /**
   * Redacts the text blocks as one text: of a secret that goes on in the next block the rest is taken away there. The last
   * `hidden` characters are searched but left out: the head of a secret that was cut off there is no match.
   */
  content(blocks: readonly Content[], hidden = 0): readonly Content[] {
    if (this.#forms.size === 0 && hidden === 0) return blocks;
    const before = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    const after = this.#pieces(before, '\n', hidden);
    if (!after) return blocks;
    let next = 0;
    return blocks.flatMap((block): readonly Content[] => {
      if (block.type !== 'text') return [block];
      const text = after[next++] ?? '';
      return text === '' && block.text !== '' ? [] : [{ ...block, text }];
    });
  }

  /**
   * Redacts keys and values of plain JSON data; what holds no secret comes back as it is, uncopied. Objects that are no
   * plain data, and what is nested over 1,000 deep, become notes instead of a way around.
   */
  json<T>(value: T): T {
    if (this.#forms.size === 0) return value;
    const { strings, odd } = stringsOf(value);
    const after = this.#pieces(strings, STRING_END);
    return after || odd ? (withStrings(value, after ?? strings) as T) : value;
  }

  #learn(secret: string): void {
    this.#secrets.add(secret);
    for (const form of formsOf(secret)) {
      const bare = withoutLineBreaks(form);
      if (bare.length < MIN_SECRET_LENGTH) continue;
      this.#forms.add(bare);
      this.#shortest = Math.min(this.#shortest, bare.length);
      // Two bytes of line break for every 16 characters: PEM wraps at 64, mail at 76.
      this.#longestBytes = Math.max(this.#longestBytes, Buffer.byteLength(form) + 2 * Math.ceil(form.length / 16));
    }
    this.#search = undefined;
  }

  /** Redacts several strings with one search; `undefined` when they stay as they are. */
  #pieces(pieces: readonly string[], separator: string, hidden = 0): readonly string[] | undefined {
    const whole = pieces.join(separator);
    const spans = this.#find(whole);
    if (spans.length === 0 && hidden === 0) return undefined;
    const end = characterStart(whole, Math.max(0, whole.length - hidden));
    let from = 0;
    let first = 0;
    return pieces.map((piece) => {
      while ((spans[first]?.end ?? Number.POSITIVE_INFINITY) <= from) first++;
      const text = replaced(piece.slice(0, Math.max(0, end - from)), from, spans, first);
      from += piece.length + separator.length;
      return text;
    });
  }

  /**
   * Where secrets are, in order and apart. They are looked for at every place, inside another match too: of two secrets
   * that overlap no rest is left.
   */
  #find(text: string): readonly Span[] {
    if (text.length < this.#shortest) return [];
    const bare = withoutLineBreaks(text);
    const found: Span[] = [];
    this.#search ??= searchFor(this.#forms);
    for (const expression of this.#search.expressions) {
      expression.lastIndex = 0;
      for (let match = expression.exec(bare); match; match = expression.exec(bare)) {
        const { index: start } = match;
        const form = this.#search.formsByHead.get(match[0])?.find((candidate) => bare.startsWith(candidate, start));
        if (form !== undefined) found.push({ start, end: start + form.length });
        expression.lastIndex = start + 1;
      }
    }
    const spans = merged(found);
    return bare.length === text.length ? spans : withLineBreaks(text, spans);
  }
}

interface Search {
  readonly expressions: readonly RegExp[];
  /** What may stand where a head was found, the longest first. */
  readonly formsByHead: ReadonlyMap<string, readonly string[]>;
}

function searchFor(forms: ReadonlySet<string>): Search {
  const formsByHead = new Map<string, string[]>();
  for (const form of forms) {
    const head = form.slice(0, HEAD_LENGTH);
    const alike = formsByHead.get(head);
    if (alike) alike.push(form);
    else formsByHead.set(head, [form]);
  }
  for (const [head, alike] of formsByHead) {
    // At its place an expression finds the longest head only; shorter forms that begin alike are to be compared as well.
    for (let length = MIN_SECRET_LENGTH; length < head.length; length++) {
      if (forms.has(head.slice(0, length))) alike.push(head.slice(0, length));
    }
    alike.sort((a, b) => b.length - a.length);
  }
  // Descending order: a head comes before its own beginnings, and those that begin alike get into one expression.
  const sorted = [...formsByHead.keys()].sort((a, b) => (a < b ? 1 : -1)).map(escaped);
  const expressions: RegExp[] = [];
  for (let from = 0; from < sorted.length; from += HEADS_PER_EXPRESSION) {
    expressions.push(new RegExp(sorted.slice(from, from + HEADS_PER_EXPRESSION).join('|'), 'g'));
  }
  return { expressions, formsByHead };
}

function escaped(form: string): string {
  return form.replace(/[\\^$.*+?()[\]{}|/]/g, (char) => `\\${char}`);
}

/** The same place, or the one before it when it halves a surrogate pair. */
function characterStart(text: string, at: number): number {
  return at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}

function withoutLineBreaks(text: string): string {
  return text.replace(/[\r\n]+/g, '');
}

/** Joins spans that overlap; secrets side by side stay two. */
function merged(found: readonly Span[]): readonly Span[] {
  const spans: Span[] = [];
  for (const span of [...found].sort((a, b) => a.start - b.start)) {
    const last = spans.at(-1);
    if (last && span.start < last.end)
      spans[spans.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
    else spans.push(span);
  }
  return spans;
}

/** The same spans in the text as it was before its line breaks were taken out. */
function withLineBreaks(text: string, spans: readonly Span[]): readonly Span[] {
  const breaks = text.matchAll(/[\r\n]+/g);
  let next = breaks.next();
  let removed = 0;
  const original = (bare: number): number => {
    while (!next.done && next.value.index - removed <= bare) {
      removed += next.value[0].length;
      next = breaks.next();
    }
    return bare + removed;
  };
  return spans.map(({ start, end }) => ({ start: original(start), end: original(end - 1) + 1 }));
}

/** A piece that begins at `from`, redacted. A span that began in an earlier piece leaves no second mark. */
function replaced(piece: string, from: number, spans: readonly Span[], first: number): string {
  let text = '';
  let at = 0;
  for (let i = first; i < spans.length; i++) {
    const span = spans[i];
    if (!span || span.start >= from + piece.length) break;
    const start = span.start - from;
    if (start >= 0) text += piece.slice(at, start) + REDACTED;
    at = Math.min(span.end - from, piece.length);
  }
  return text + piece.slice(at);
}
