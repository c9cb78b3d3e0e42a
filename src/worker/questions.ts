import { abortError, ExtensionHostError } from '../shared/errors.ts';
import type { ExtensionContext } from '../shared/extension-api.ts';
import type { JsonValue } from '../shared/json.ts';
import { copyJson } from '../shared/json-copy.ts';
import type { HostAnswers, SessionOpening } from '../shared/protocol.ts';
import { MAX_OPTIONS, SAMPLE_BYTES, type SampleRequest, type UiAnswer, type UiQuestion } from '../shared/question.ts';
import { cutWithOverlap, TEXT_CAPS } from '../shared/text-caps.ts';
import type { HostClient } from './host-client.ts';
import type { ThreadServices } from './thread-services.ts';

type Options = { readonly signal?: AbortSignal } | undefined;

/** What one session asks of people and models, through the host. */
export class Questions {
  readonly ui: Pick<ExtensionContext['ui'], 'confirm' | 'select' | 'input' | 'ask'> = {
    ask: (question, options) => this.#ask(question, options),
    confirm: async (title, text) =>
      (await this.#ask({ kind: 'confirm', title, ...(text === undefined ? {} : { text }) }, undefined)) === true,
    select: async (title, options) => textOrNothing(await this.#ask({ kind: 'select', title, options }, undefined)),
    input: async (title, placeholder) => {
      const more = placeholder === undefined ? {} : { placeholder };
      return textOrNothing(await this.#ask({ kind: 'input', title, ...more }, undefined));
    },
  };

  readonly #host: HostClient;
  readonly #opening: Pick<SessionOpening, 'hasUI' | 'canSample'>;
  readonly #services: Pick<ThreadServices, 'limits' | 'overlapBytes'>;
  #open = 0;
  #nextTicket = 1;

  constructor(
    host: HostClient,
    opening: Pick<SessionOpening, 'hasUI' | 'canSample'>,
    services: Pick<ThreadServices, 'limits' | 'overlapBytes'>,
  ) {
    this.#host = host;
    this.#opening = opening;
    this.#services = services;
  }

  async sample({ origin, params }: SampleRequest, options: Options): Promise<JsonValue> {
    if (!this.#opening.canSample) {
      throw new ExtensionHostError('PERMISSION_DENIED', 'the host offers no model to this session');
    }
    const { jsonDepth } = this.#services.limits;
    const copied = copyJson(params, { maxDepth: jsonDepth, maxBytes: SAMPLE_BYTES });
    if (!copied.ok) {
      throw new ExtensionHostError('INVALID_ARGUMENT', `the request to the model cannot be sent: ${copied.reason}`);
    }
    const { message } = await this.#question(options, (ticket) =>
      this.#host.requestApart('model.sample', { ticket, origin: this.#cut(origin, 64), params: copied.value }),
    );
    return message;
  }

  async #ask(question: UiQuestion, options: Options): Promise<UiAnswer> {
    if (!this.#opening.hasUI || options?.signal?.aborted) return undefined;
    try {
      const { value } = await this.#question(options, (ticket) => this.#send(question, ticket));
      return value;
    } catch (error) {
      if (error instanceof ExtensionHostError && error.code === 'ABORTED') return undefined;
      throw error;
    }
  }

  async #send(question: UiQuestion, ticket: number): Promise<HostAnswers['ui.confirm'] | HostAnswers['ui.input']> {
    const text = question.text === undefined ? {} : { text: this.#cut(question.text, TEXT_CAPS.questionText) };
    const asked = { ticket, title: this.#cut(question.title, TEXT_CAPS.questionTitle), ...text };
    if (question.kind === 'confirm') {
      const preset = question.default === undefined ? {} : { default: question.default === true };
      return this.#host.requestApart('ui.confirm', { ...asked, ...preset });
    }
    const preset = question.default === undefined ? {} : { default: this.#option(question.default) };
    if (question.kind === 'select') {
      const { options } = question;
      const count = Array.isArray(options) ? options.length : 0;
      if (count === 0 || count > MAX_OPTIONS) {
        throw new ExtensionHostError('INVALID_ARGUMENT', `select needs 1 to ${MAX_OPTIONS} options`);
      }
      const shown = options.map((option) => this.#option(option));
      const { value } = await this.#host.requestApart('ui.select', { ...asked, options: shown, ...preset });
      // The answer is one of those that were shown; a long one was cut.
      const chosen = value === undefined ? undefined : options[shown.indexOf(value)];
      return chosen === undefined ? {} : { value: chosen };
    }
    const { placeholder } = question;
    const more = placeholder === undefined ? {} : { placeholder: this.#option(placeholder) };
    return this.#host.requestApart('ui.input', { ...asked, ...more, ...preset });
  }

  /** Runs one question. @throws HOST_BUSY; ABORTED at once, and the host is told that nobody waits any more */
  async #question<Answer>(options: Options, send: (ticket: number) => Promise<Answer>): Promise<Answer> {
    const signal = options?.signal;
    if (signal?.aborted) throw abortError('the question', signal);
    const { questionsPerSession } = this.#services.limits;
    if (this.#open >= questionsPerSession) {
      const text = `${questionsPerSession} questions of this session wait for an answer already; ask when one is answered`;
      throw new ExtensionHostError('HOST_BUSY', text);
    }
    const ticket = this.#nextTicket;
    this.#nextTicket += 1;
    this.#open += 1;
    const answer = send(ticket).finally(() => {
      this.#open -= 1;
    });
    // After an abort nobody looks at it.
    answer.catch(() => {});
    if (!signal) return answer;
    let onAbort = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => {
        this.#host.requestApart('question.close', { ticket }).catch(() => {});
        reject(abortError('the question', signal));
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      return await Promise.race([answer, aborted]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #option(text: string): string {
    return this.#cut(text, TEXT_CAPS.questionOption);
  }

  #cut(text: unknown, maxCharacters: number): string {
    return cutWithOverlap(String(text), maxCharacters, this.#services.overlapBytes);
  }
}

function textOrNothing(answer: UiAnswer): string | undefined {
  return typeof answer === 'string' ? answer : undefined;
}
