import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/extension-api.ts';
import type { Limits } from '../../../shared/limits.ts';
import type { ServerConfig } from '../../../shared/mcp-options.ts';
import type { ClientPort } from '../connection/client/client-port.ts';
import type { Catalog } from './catalog.ts';
import { listTools } from './list-tools.ts';

const CHANGED = 'notifications/tools/list_changed';
const DEBOUNCE_MS = 300;
/** A server that never stops announcing changes is asked no more often than this. */
const LONGEST_DEBOUNCE_MS = 30_000;
/** After a pause of so many debounces it is no storm any more. */
const CALM_FACTOR = 4;

export interface LiveListOptions {
  readonly config: () => ServerConfig;
  readonly limits: Limits;
  readonly logger: Logger;
  /** Gets each list that was read, whether it is another one or not. */
  readonly onList: (live: Catalog) => void;
}

/**
 * The tools of one running server as it lists them now: read after each start, and again when it says that they have
 * changed. Announcements are gathered for 300 ms, one reading runs at a time and one more waits; in a storm the pauses double.
 */
export class LiveList {
  readonly #options: LiveListOptions;
  #client: ClientPort | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reading = false;
  /** Announcements that came while a list was being read. */
  #missed = 0;
  #debounceMs = DEBOUNCE_MS;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(options: LiveListOptions) {
    this.#options = options;
  }

  /** Another process runs: reads its list. */
  started(client: ClientPort): void {
    this.end();
    this.#reading = false;
    this.#client = client;
    client.onNotification = (method) => {
      if (method === CHANGED && this.#client === client) this.#changed();
    };
    void this.#read(client);
  }

  /** Nothing is read any more, until the next start. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#client = undefined;
    this.#missed = 0;
  }

  #changed(): void {
    if (this.#reading) {
      this.#missed += 1;
      return;
    }
    if (this.#timer !== undefined) return;
    const calm = performance.now() - this.#readAt > this.#debounceMs * CALM_FACTOR;
    this.#debounceMs = calm ? DEBOUNCE_MS : Math.min(this.#debounceMs * 2, LONGEST_DEBOUNCE_MS);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#client) void this.#read(this.#client);
    }, this.#debounceMs).unref();
  }

  async #read(client: ClientPort): Promise<void> {
    const { limits, logger, onList } = this.#options;
    const { name: server, toolPrefix } = this.#options.config();
    this.#reading = true;
    this.#missed = 0;
    try {
      const live = await listTools(client, {}, { server, toolPrefix, limits });
      if (this.#client === client) onList(live);
    } catch (error) {
      logger.debug({ server }, `${server}: its live tool list could not be read: ${messageOf(error)}`);
    } finally {
      if (this.#client === client) {
        this.#reading = false;
        this.#readAt = performance.now();
        if (this.#missed > 0) this.#changed();
      }
    }
  }
}
