import { ExtensionHostError } from '../../shared/errors.ts';
import type { Session } from '../index.ts';
import { notification } from './json-rpc-message.ts';
import type { Outbox } from './outbox.ts';

/** The sessions a client has opened, and what they have to tell it. */
export class RpcSessions {
  readonly #outbox: Outbox;
  readonly #open = new Map<string, { readonly session: Session; readonly forget: () => void }>();

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  /** @throws ExtensionHostError `SESSION_CLOSED` when there is none */
  get(id: string): Session {
    const entry = this.#open.get(id);
    if (entry) return entry.session;
    throw new ExtensionHostError('SESSION_CLOSED', `no session "${id}" is open; open it with session/open`);
  }

  add(session: Session): void {
    const sessionId = session.id;
    const notify = (method: string, params: object): void => {
      this.#outbox.send(notification(method, { sessionId, ...params }));
    };
    const subscriptions = [
      session.on('notify', ({ level, text, extension }) =>
        notify('session/notify', { level, message: text, extension }),
      ),
      session.on('message', ({ customType, content, display, extension }) => {
        notify('session/message', { customType, content, display, extension });
      }),
      // Each one holds the whole table, so a client that is behind gets the last one only.
      session.on('tools-changed', () => {
        this.#outbox.replace(`tools ${sessionId}`, () =>
          notification('session/toolsChanged', { sessionId, tools: session.tools }),
        );
      }),
    ];
    const forget = (): void => {
      for (const unsubscribe of subscriptions) unsubscribe();
    };
    this.#open.set(sessionId, { session, forget });
  }

  /** Closes a session; its requests in flight end as the host says. */
  async close(id: string, reason: 'quit' | 'reload'): Promise<void> {
    const session = this.get(id);
    await session.close(reason);
    const entry = this.#open.get(id);
    // The id is free as soon as the session is closed: by now it may be another one's.
    if (entry?.session !== session) return;
    entry.forget();
    this.#open.delete(id);
  }
}
