import { ExtensionHostError } from '../../shared/errors.ts';

const NOTES_PER_SECOND = 200;
const WINDOW_MS = 1000;

/** Messages, notifications and the like of one guest a second. Over it they are refused, so that a flood never leaves it. */
export class NoteRate {
  #windowStart = 0;
  #count = 0;

  /** @throws HOST_BUSY */
  spend(): void {
    const now = performance.now();
    if (now - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = now;
      this.#count = 0;
    }
    this.#count += 1;
    if (this.#count > NOTES_PER_SECOND)
      throw new ExtensionHostError('HOST_BUSY', `more than ${NOTES_PER_SECOND} messages a second; send less`);
  }
}
