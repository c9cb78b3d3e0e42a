import type { ExtensionHostError } from '../shared/errors.ts';
import type { JsonObject } from '../shared/json.ts';
import type { Limits } from '../shared/limits.ts';
import type { Failure } from '../shared/tool.ts';
import type { ResultPolicy } from './result-finish.ts';

const KEPT = 1000;

export interface SessionFailuresOptions {
  readonly sessionId: string;
  readonly limits: Pick<Limits, 'descriptionBytes'>;
  readonly results: Pick<ResultPolicy, 'cutText'>;
  readonly log: (level: 'warn', message: string, facts: JsonObject) => void;
}

/** What a session could not offer, and why. The first thousand are kept. */
export class SessionFailures {
  readonly #options: SessionFailuresOptions;
  readonly #failures: Failure[] = [];

  constructor(options: SessionFailuresOptions) {
    this.#options = options;
  }

  get list(): readonly Failure[] {
    return [...this.#failures];
  }

  add(extension: string, failures: readonly Omit<Failure, 'extension'>[]): void {
    const { limits, results } = this.#options;
    for (const failure of failures) {
      if (this.#failures.length >= KEPT) return;
      const message = results.cutText(failure.message, limits.descriptionBytes);
      this.#failures.push({ ...failure, extension, message });
    }
  }

  /** Tools that were refused their name. */
  addRefused(extension: string, refused: readonly Omit<Failure, 'extension'>[]): void {
    const { sessionId, log } = this.#options;
    this.add(extension, refused);
    for (const { message } of refused) log('warn', message, { extension, session: sessionId });
  }

  /** An extension that is not offered at all. */
  addExtension(extension: string, { code, message }: ExtensionHostError): void {
    const { sessionId, log } = this.#options;
    this.add(extension, [{ code, message }]);
    const text = `extension ${extension} is not offered in session ${sessionId}: ${message}`;
    log('warn', text, { extension, session: sessionId });
  }
}
