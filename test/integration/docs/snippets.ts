import { readFileSync } from 'node:fs';

/** A fenced block that is marked as one to run. */
export interface Snippet {
  /** The line of its fence, for messages. */
  readonly line: number;
  /** `run` in a block of `js` is a program, in one of `sh` one command a line; `extension` is a file to load. */
  readonly kind: 'program' | 'commands' | 'extension';
  /** What its first line names: `// chats.mjs`. Empty for commands. */
  readonly file: string;
  readonly code: string;
}

const FENCE = /^```(\w+) (run|extension)\n([\s\S]*?)^```$/gm;

/** The marked blocks of a page, in order. @throws when one has no name or is of a language that has no runner */
export function snippetsOf(page: URL): Snippet[] {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(FENCE)].map(({ 1: language, 2: mark, 3: code = '', index }) => {
    const line = text.slice(0, index).split('\n').length;
    if (language === 'sh' && mark === 'run') return { line, kind: 'commands', file: '', code };
    const file = /^\/\/ ([\w-]+\.(?:mjs|ts))/.exec(code)?.[1];
    if (file === undefined)
      throw new Error(`${page.pathname}:${line}: the first line has to name the file: // name.mjs`);
    return { line, kind: mark === 'extension' ? 'extension' : 'program', file, code };
  });
}
