import type { MessagePort } from 'node:worker_threads';
import * as Comlink from 'comlink';
import type * as z from 'zod';
import { ExtensionHostError, fromWireError, messageOf, toWireError } from '../../shared/errors.ts';
import { portEndpoint } from '../../shared/port-endpoint.ts';
import { HostRequestSchema, type Outcome, outcomeSchema } from '../../shared/protocol.ts';
import type { InboundMeter } from './inbound-meter.ts';

type Method = (...args: never[]) => Promise<unknown>;
type MethodName<Remote> = { [Key in keyof Remote]: Remote[Key] extends Method ? Key : never }[keyof Remote] & string;
type ValueOf<Remote, Name extends MethodName<Remote>> = Remote[Name] extends (
  ...args: never[]
) => Promise<Outcome<infer T>>
  ? T
  : never;

export interface LinkOptions<Note> {
  readonly port: MessagePort;
  /** Shared by every port of a thread. */
  readonly meter: InboundMeter;
  readonly noteSchema: z.ZodType<Note>;
  readonly onNote: (note: Note) => void;
  /** Answers a host request; what it throws is sent back as data. */
  readonly onRequest: (op: string, payload: unknown) => Promise<unknown>;
  /** Said about what the worker posted and the protocol does not know. */
  readonly onViolation: (what: string) => void;
}

/**
 * The host's end of one port. Calls go out through Comlink and race the death of their thread, which Comlink itself never
 * notices; notes and requests come in and are checked before anything believes them. The Remote never leaves this class:
 * even printing one fires calls.
 */
export class Link<Remote extends object, Note> {
  readonly #options: LinkOptions<Note>;
  #remote: Record<string, (...args: unknown[]) => Promise<unknown>>;
  /** A property of a Comlink proxy is a new proxy each time: one per method is enough. */
  readonly #methods = new Map<string, (...args: unknown[]) => Promise<unknown>>();
  readonly #pending = new Set<(error: ExtensionHostError) => void>();
  /**
   * Comlink's ids of the calls that were posted and have no answer yet. Any other answer is forged, and must not pass for
   * the true one of a call that is open: a count would not do.
   */
  readonly #unanswered = new Set<unknown>();
  #dead: ExtensionHostError | undefined;

  constructor(options: LinkOptions<Note>) {
    this.#options = options;
    const endpoint = portEndpoint(options.port, (message) => this.#take(message));
    const noting = {
      ...endpoint,
      postMessage: (message: unknown, transfer?: readonly object[]) => {
        endpoint.postMessage(message, transfer);
        this.#unanswered.add(idOf(message));
      },
    };
    this.#remote = Comlink.wrap<Record<string, (...args: unknown[]) => unknown>>(noting as Comlink.Endpoint);
    options.port.on('messageerror', () => options.onViolation('a message that cannot be read'));
  }

  /** Calls a method and checks its answer. @throws the death of the thread, what the worker answered, or PROTOCOL */
  call<Name extends MethodName<Remote>>(
    name: Name,
    args: readonly unknown[],
    value: z.ZodType<ValueOf<Remote, Name>>,
  ): Promise<ValueOf<Remote, Name>> {
    return this.#race(name, args, (answer) => {
      const outcome = schemaFor(value).safeParse(answer);
      if (!outcome.success) {
        throw new ExtensionHostError('PROTOCOL', `the thread answered ${name} with something else than agreed`);
      }
      if (!outcome.data.ok) throw fromWireError(outcome.data.error);
      return outcome.data.value;
    });
  }

  /** Calls a method whose answer does not matter: nothing waits for it, and a dead thread is no error. */
  tell(name: MethodName<Remote>, args: readonly unknown[]): void {
    this.#race(name, args, ignored).catch(() => {});
  }

  /** Ends every call in flight, and later ones at once. */
  fail(error: ExtensionHostError): void {
    this.#dead ??= error;
    for (const reject of this.#pending) reject(this.#dead);
    this.#pending.clear();
  }

  close(error: ExtensionHostError): void {
    this.fail(error);
    // The port itself: `releaseProxy` through an endpoint of our own would leak it.
    this.#options.port.close();
    // Comlink keeps the endpoint, and with it this link, for as long as a proxy of it lives: 10 KB for every session.
    this.#methods.clear();
    this.#unanswered.clear();
    this.#remote = {};
  }

  /** One promise for each call, and one reaction to Comlink's: this is what every tool call pays. */
  #race<T>(name: string, args: readonly unknown[], read: (answer: unknown) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#dead) {
        reject(this.#dead);
        return;
      }
      const method = this.#method(name);
      this.#pending.add(reject);
      method(...args).then(
        (answer) => {
          this.#pending.delete(reject);
          try {
            resolve(read(answer));
          } catch (error) {
            reject(error);
          }
        },
        (error: unknown) => {
          this.#pending.delete(reject);
          reject(
            new ExtensionHostError('PROTOCOL', `${name} could not be called: ${messageOf(error)}`, { cause: error }),
          );
        },
      );
    });
  }

  #method(name: string): (...args: unknown[]) => Promise<unknown> {
    let method = this.#methods.get(name);
    if (!method) {
      method = this.#remote[name];
      if (!method) throw new ExtensionHostError('PROTOCOL', `the thread has no method ${name}`);
      this.#methods.set(name, method);
    }
    return method;
  }

  /** True when the message is not for Comlink. */
  #take(message: unknown): boolean {
    if (this.#dead) return true;
    if (isNote(message)) {
      this.#takeNote(message.note);
      return true;
    }
    if (isRequest(message)) {
      this.#takeRequest(message);
      return true;
    }
    if (this.#unanswered.delete(idOf(message))) return false;
    if (this.#options.meter.admit(message)) this.#options.onViolation('an answer that nobody waits for');
    return true;
  }

  #takeNote(given: unknown): void {
    if (!this.#options.meter.admit(given)) return;
    const note = this.#options.noteSchema.safeParse(given);
    if (note.success) this.#options.onNote(note.data);
    else this.#options.onViolation('a note that is not in the protocol');
  }

  #takeRequest(message: unknown): void {
    const request = HostRequestSchema.safeParse(message);
    if (!request.success) {
      this.#options.onViolation('a request that is not in the protocol');
      return;
    }
    const { id, op, payload } = request.data.request;
    void this.#answer(id, op, payload);
  }

  async #answer(id: number, op: string, payload: unknown): Promise<void> {
    let outcome: Outcome<unknown>;
    const { meter, onRequest } = this.#options;
    const entered = meter.enterRequest();
    try {
      if (!entered) throw new ExtensionHostError('HOST_BUSY', 'too many requests of this extension are open');
      outcome = { ok: true, value: await onRequest(op, payload) };
    } catch (error) {
      outcome = { ok: false, error: toWireError(error, 'PROTOCOL') };
    } finally {
      if (entered) meter.leaveRequest();
    }
    if (!this.#dead) this.#race('answer', [id, outcome], ignored).catch(() => {});
  }
}

function ignored(): void {}

/** Comlink's messages carry a string id; ours carry `note` or `request` instead. */
function isNote(message: unknown): message is { readonly note: unknown } {
  return typeof message === 'object' && message !== null && 'note' in message;
}

function isRequest(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'request' in message;
}

function idOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'id' in message ? message.id : undefined;
}

const schemas = new WeakMap<z.ZodType, z.ZodType>();

/** The envelope around an answer, made once for each kind of answer. */
function schemaFor<T>(value: z.ZodType<T>): z.ZodType<Outcome<T>> {
  const known = schemas.get(value);
  if (known) return known as z.ZodType<Outcome<T>>;
  const made = outcomeSchema(value);
  schemas.set(value, made);
  return made;
}
