import { isRecord } from '../../shared/json.ts';
import type { OnSampling, SessionUi, UiQuestionContext } from '../index.ts';

/** Sends a request to the client; rejects with what it refuses with. */
export type AskClient = (method: string, params: object, signal: AbortSignal) => Promise<unknown>;

/** The person behind the client of a session that was opened with `ui: true`: `session/ui` → `{ value? }`. */
export function clientUi(sessionId: string, ask: AskClient): SessionUi {
  const question = async (
    kind: 'confirm' | 'select' | 'input',
    title: string,
    { signal, ...context }: UiQuestionContext<boolean | string>,
    more: object = {},
  ): Promise<unknown> => {
    const answer = await ask('session/ui', { sessionId, kind, title, ...more, ...context }, signal);
    return isRecord(answer) ? answer['value'] : undefined;
  };
  return {
    async confirm(title, context) {
      const value = await question('confirm', title, context);
      return typeof value === 'boolean' ? value : undefined;
    },
    async select(title, options, context) {
      return textOrNothing(await question('select', title, context, { options }));
    },
    async input(title, context) {
      return textOrNothing(await question('input', title, context));
    },
  };
}

/** The model behind the client of a session that was opened with `sampling: true`: `session/sample` → the message. */
export function clientSampling(sessionId: string, ask: AskClient): OnSampling {
  return (params, { signal, extension, server }) =>
    ask('session/sample', { ...params, sessionId, extension, server }, signal);
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
