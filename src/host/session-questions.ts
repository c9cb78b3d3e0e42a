import { ExtensionHostError, messageOf } from '../shared/errors.ts';
import { isRecord, type JsonObject } from '../shared/json.ts';
import { copyJson } from '../shared/json-copy.ts';
import type { Limits } from '../shared/limits.ts';
import type { HostAnswers, HostRequestPayload } from '../shared/protocol.ts';
import { ANSWER_CHARACTERS, SAMPLE_BYTES } from '../shared/question.ts';
import { TEXT_CAPS } from '../shared/text-caps.ts';
import type { OnSampling, QuestionContext, SessionUi } from './options.ts';
import type { ResultPolicy } from './result-finish.ts';

export interface SessionQuestionsOptions {
  readonly id: string;
  readonly ui?: SessionUi;
  readonly onSampling?: OnSampling;
  readonly limits: Limits;
  readonly results: ResultPolicy;
  readonly log: (level: 'warn', message: string, facts: JsonObject) => void;
}

/** Who asks: tickets are numbered by each life of an extension's thread. */
export interface Asker {
  readonly extension: string;
  readonly owner: object;
}

interface OpenQuestion {
  readonly owner: object;
  readonly ticket: number;
  readonly close: (why: 'closed' | 'late') => void;
}

/**
 * What extensions ask of the person and of the model of one session: redacted, so many at once, each for so long. However it
 * goes, a question is answered; one without an answer counts as closed.
 */
export class SessionQuestions {
  readonly #options: SessionQuestionsOptions;
  readonly #open = new Set<OpenQuestion>();

  constructor(options: SessionQuestionsOptions) {
    this.#options = options;
  }

  get hasUI(): boolean {
    return this.#options.ui !== undefined;
  }

  get canSample(): boolean {
    return this.#options.onSampling !== undefined;
  }

  async confirm(asker: Asker, question: HostRequestPayload<'ui.confirm'>): Promise<HostAnswers['ui.confirm']> {
    const { ui } = this.#options;
    if (!ui?.confirm) return {};
    const preset = question.default === undefined ? {} : { default: question.default };
    const value = await this.#ask(asker, question.ticket, (context) =>
      ui.confirm?.(this.#title(question), { ...context, ...this.#text(question), ...preset }),
    );
    return typeof value === 'boolean' ? { value } : {};
  }

  async select(asker: Asker, question: HostRequestPayload<'ui.select'>): Promise<HostAnswers['ui.select']> {
    const { ui } = this.#options;
    if (!ui?.select) return {};
    const shown = question.options.map((option) => this.#option(option));
    const preset = question.default === undefined ? {} : { default: this.#option(question.default) };
    const value = await this.#ask(asker, question.ticket, (context) =>
      ui.select?.(this.#title(question), shown, { ...context, ...this.#text(question), ...preset }),
    );
    // What was shown may be redacted; the asker knows its own.
    const chosen = typeof value === 'string' ? question.options[shown.indexOf(value)] : undefined;
    return chosen === undefined ? {} : { value: chosen };
  }

  async input(asker: Asker, question: HostRequestPayload<'ui.input'>): Promise<HostAnswers['ui.input']> {
    const { ui } = this.#options;
    if (!ui?.input) return {};
    const { placeholder } = question;
    const more = placeholder === undefined ? {} : { placeholder: this.#option(placeholder) };
    const preset = question.default === undefined ? {} : { default: this.#option(question.default) };
    const value = await this.#ask(asker, question.ticket, (context) =>
      ui.input?.(this.#title(question), { ...context, ...this.#text(question), ...more, ...preset }),
    );
    return typeof value === 'string' ? { value: value.slice(0, ANSWER_CHARACTERS) } : {};
  }

  /** @throws PERMISSION_DENIED without a model or when it refuses, CALL_TIMEOUT, HOST_BUSY, INVALID_ARGUMENT */
  async sample(
    asker: Asker,
    { ticket, origin, params }: HostRequestPayload<'model.sample'>,
  ): Promise<HostAnswers['model.sample']> {
    const { onSampling, results, limits } = this.#options;
    if (!onSampling) throw refused('the host offers no model to this session');
    const bounds = { maxDepth: limits.jsonDepth, maxBytes: SAMPLE_BYTES };
    const given = copyJson(results.redactJson(params), bounds);
    if (!given.ok || !isRecord(given.value)) {
      const text = `the request to the model cannot be passed on: ${given.ok ? 'it is no object' : given.reason}`;
      throw new ExtensionHostError('INVALID_ARGUMENT', text);
    }
    const asked = given.value as JsonObject;
    const server = results.cutText(origin, 64);
    const answer = await this.#run(asker, ticket, async (context) => {
      try {
        return await onSampling(asked, { ...context, server });
      } catch (error) {
        throw refused(messageOf(error));
      }
    });
    if (answer === 'late') {
      throw new ExtensionHostError('CALL_TIMEOUT', `the model did not answer within ${limits.questionMs / 1000} s`);
    }
    if (answer === 'closed') throw new ExtensionHostError('ABORTED', 'the request to the model was given up');
    const message = copyJson(answer.value, bounds);
    if (message.ok) return { message: message.value };
    throw new ExtensionHostError('INVALID_ARGUMENT', `the model's answer cannot be passed on: ${message.reason}`);
  }

  /** Nobody waits for the answer any more. */
  close({ owner }: Asker, ticket: number): void {
    for (const question of this.#open) {
      if (question.owner === owner && question.ticket === ticket) question.close('closed');
    }
  }

  /** The session goes on elsewhere, or ends. */
  endAll(): void {
    for (const question of this.#open) question.close('closed');
  }

  async #ask(
    asker: Asker,
    ticket: number,
    show: (context: QuestionContext) => Promise<unknown> | undefined,
  ): Promise<unknown> {
    const answer = await this.#run(asker, ticket, async (context) => {
      try {
        return await show(context);
      } catch (error) {
        const facts = { extension: asker.extension, session: this.#options.id };
        this.#options.log('warn', `a question could not be shown: ${messageOf(error)}`, facts);
        return undefined;
      }
    });
    return typeof answer === 'string' ? undefined : answer.value;
  }

  /** @throws HOST_BUSY, or what `work` throws */
  async #run(
    { extension, owner }: Asker,
    ticket: number,
    work: (context: QuestionContext) => Promise<unknown>,
  ): Promise<{ readonly value: unknown } | 'closed' | 'late'> {
    const { questionsPerSession, questionMs } = this.#options.limits;
    if (this.#open.size >= questionsPerSession) {
      throw new ExtensionHostError('HOST_BUSY', `${questionsPerSession} questions of this session wait already`);
    }
    const shown = new AbortController();
    let close: OpenQuestion['close'] = () => {};
    const ended = new Promise<'closed' | 'late'>((resolve) => {
      close = resolve;
    });
    const question: OpenQuestion = { owner, ticket, close };
    this.#open.add(question);
    const timer = setTimeout(() => close('late'), questionMs);
    try {
      const answered = work({ extension, signal: shown.signal }).then((value) => ({ value }));
      return await Promise.race([answered, ended]);
    } finally {
      clearTimeout(timer);
      this.#open.delete(question);
      shown.abort();
    }
  }

  #title({ title }: { readonly title: string }): string {
    return this.#options.results.cutText(title, TEXT_CAPS.questionTitle);
  }

  #text({ text }: { readonly text?: string }): { readonly text?: string } {
    return text === undefined ? {} : { text: this.#options.results.cutText(text, TEXT_CAPS.questionText) };
  }

  #option(text: string): string {
    return this.#options.results.cutText(text, TEXT_CAPS.questionOption);
  }
}

function refused(why: string): ExtensionHostError {
  return new ExtensionHostError('PERMISSION_DENIED', why);
}
