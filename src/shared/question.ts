import * as z from 'zod';
import type { JsonObject, JsonValue } from './json.ts';

/** A question to the person in front of a session. `text` explains the title; `default` is what the asker would take. */
export type UiQuestion =
  | { readonly kind: 'confirm'; readonly title: string; readonly text?: string; readonly default?: boolean }
  | {
      readonly kind: 'select';
      readonly title: string;
      /** 1 to 500. */
      readonly options: readonly string[];
      readonly text?: string;
      readonly default?: string;
    }
  | {
      readonly kind: 'input';
      readonly title: string;
      readonly placeholder?: string;
      readonly text?: string;
      readonly default?: string;
    };

/** What a person answered; `undefined` when the question was closed, ran out of time, or could not be shown. */
export type UiAnswer = boolean | string | undefined;

/** A request for a message of the host's model. `params` and the answer: MCP 2025-06-18, `sampling/createMessage`. */
export interface SampleRequest {
  /** For whom the extension asks: the server's name. */
  readonly origin: string;
  readonly params: JsonObject;
}

export const MAX_OPTIONS = 500;
/** A sampling request and its answer, each as JSON. */
export const SAMPLE_BYTES = 4 * 1024 * 1024;
/** What a person may type. */
export const ANSWER_CHARACTERS = 64 * 1024;

/** `ticket` is the thread's own and names the question when it is to be closed again. */
const Asked = { ticket: z.int().positive(), title: z.string(), text: z.exactOptional(z.string()) };

/** The payloads of the host requests. */
export const QUESTION_SCHEMAS = {
  'ui.confirm': z.object({ ...Asked, default: z.exactOptional(z.boolean()) }),
  'ui.select': z.object({
    ...Asked,
    options: z.array(z.string()).min(1).max(MAX_OPTIONS),
    default: z.exactOptional(z.string()),
  }),
  'ui.input': z.object({
    ...Asked,
    placeholder: z.exactOptional(z.string()),
    default: z.exactOptional(z.string()),
  }),
  'model.sample': z.object({ ticket: z.int().positive(), origin: z.string(), params: z.unknown() }),
  /** Nobody waits for the answer any more. */
  'question.close': z.object({ ticket: z.int().positive() }),
} as const;

/** How the questions are answered. */
export interface QuestionAnswers {
  readonly 'ui.confirm': { readonly value?: boolean };
  readonly 'ui.select': { readonly value?: string };
  readonly 'ui.input': { readonly value?: string };
  readonly 'model.sample': { readonly message: JsonValue };
  readonly 'question.close': null;
}
