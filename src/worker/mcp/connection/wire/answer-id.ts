import { isRequestId, type RequestId } from './request-id.ts';

/** The end of a frame whose id comes last, with or without the version behind it. */
const LAST_ID = /[,{]\s*"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;
const OWN_ID = /^"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*[,}]/;
const OWN_METHOD = /^"method"\s*:/;
const LONGEST_KEY_AND_ID = 300;

/** What can be said of a line that cannot be parsed. */
export interface LineGuess {
  /** True for a request or a notification: the line answers nothing. */
  readonly asks: boolean;
  /** The id of the frame itself, never one inside its result. */
  readonly id?: RequestId;
}

/** Guesses what a frame was from the first and last part of its line. */
export function guessFrame(head: string, tail: string): LineGuess {
  const guess = guessFromHead(head);
  if (guess.asks || guess.id !== undefined) return guess;
  return { asks: false, ...readToken(LAST_ID.exec(tail)?.[1]) };
}

/** Walks a text that begins with an object (or is glued in front of one) and looks at the keys of that object only. */
function guessFromHead(text: string): LineGuess {
  let depth = 0;
  for (let at = text.indexOf('{'); at >= 0 && at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      if (depth === 1) {
        const rest = text.slice(at, at + LONGEST_KEY_AND_ID);
        if (OWN_METHOD.test(rest)) return { asks: true };
        const token = OWN_ID.exec(rest)?.[1];
        if (token !== undefined) return { asks: false, ...readToken(token) };
      }
      at = endOfString(text, at);
    } else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
  }
  return { asks: false };
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

function readToken(token: string | undefined): { readonly id?: RequestId } {
  try {
    const id: unknown = token === undefined ? undefined : JSON.parse(token);
    return isRequestId(id) ? { id } : {};
  } catch {
    return {};
  }
}
