import type * as z from 'zod';
import { ExtensionHostError } from '../../shared/errors.ts';
import type { ProcessSpawnChange, ProcessSpawnEvent } from '../../shared/events.ts';
import {
  HOST_REQUESTS,
  type HostAnswers,
  type HostRequestName,
  type HostRequestPayload,
} from '../../shared/protocol.ts';
import type { SharedCache } from '../policy/shared-cache.ts';
import type { SessionQuestions } from '../session-questions.ts';

/** Who asks: the extension, the life of its thread, and the session when it came on a session's port. */
export interface Requester {
  readonly extension: string;
  readonly grantedEnv: readonly string[];
  readonly owner: object;
  /** In the environment of what it starts. */
  readonly threadMark: string;
  readonly session?: {
    readonly id: string;
    readonly timeZone?: string;
    /** What the session's `process_spawn` handlers say; `undefined` without any. */
    readonly onSpawn: (event: ProcessSpawnEvent) => Promise<ProcessSpawnChange['env']>;
    readonly questions: SessionQuestions;
  };
}

export interface RequestServices {
  readonly cache: SharedCache;
  readonly prepare: (
    request: HostRequestPayload<'process.prepare'>,
    requester: Requester,
  ) => Promise<HostAnswers['process.prepare']>;
  readonly readEnv: (name: string, requester: Requester) => string | undefined;
  /** @throws PERMISSION_DENIED for what the extension was not granted */
  readonly callTool: (request: HostRequestPayload<'tool.call'>, requester: Requester) => Promise<unknown>;
}

type Handlers = {
  readonly [Name in HostRequestName]: (
    payload: HostRequestPayload<Name>,
    requester: Requester,
    services: RequestServices,
  ) => Promise<HostAnswers[Name]> | HostAnswers[Name];
};

const handlers: Handlers = {
  'process.prepare': (request, requester, { prepare }) => prepare(request, requester),
  'env.get': ({ name }, requester, { readEnv }) => {
    if (!requester.grantedEnv.includes(name)) {
      throw new ExtensionHostError(
        'PERMISSION_DENIED',
        `extension ${requester.extension} may not read the host variable ${name}; grant it with env: ['${name}'] in its entry`,
      );
    }
    const value = readEnv(name, requester);
    return value === undefined ? {} : { value };
  },
  'cache.claim': ({ key, persist }, { extension, owner }, { cache }) =>
    cache.claim({ extension, key, owner, persist }) as Promise<HostAnswers['cache.claim']>,
  'cache.settle': ({ ticket, outcome }, { owner }, { cache }) => {
    cache.settle(owner, ticket, outcome.ok ? { ok: true, value: outcome.value } : outcome);
    return null;
  },
  'cache.drop': ({ key }, { extension }, { cache }) => {
    cache.drop(extension, key);
    return null;
  },
  'tool.call': (request, requester, { callTool }) => callTool(request, requester),
  'ui.confirm': (question, requester) => questionsOf(requester).confirm(requester, question),
  'ui.select': (question, requester) => questionsOf(requester).select(requester, question),
  'ui.input': (question, requester) => questionsOf(requester).input(requester, question),
  'model.sample': (question, requester) => questionsOf(requester).sample(requester, question),
  'question.close': ({ ticket }, requester) => {
    questionsOf(requester).close(requester, ticket);
    return null;
  },
};

/** Answers one request of a thread from the closed table. @throws PROTOCOL for an unknown one or a wrong payload */
export async function answerRequest(
  op: string,
  payload: unknown,
  requester: Requester,
  services: RequestServices,
): Promise<unknown> {
  if (!isRequest(op)) throw new ExtensionHostError('PROTOCOL', `the host knows no request ${op}`);
  return dispatch(op, payload, requester, services);
}

function dispatch<Name extends HostRequestName>(
  op: Name,
  payload: unknown,
  requester: Requester,
  services: RequestServices,
): Promise<HostAnswers[Name]> | HostAnswers[Name] {
  const parsed = (HOST_REQUESTS[op] as unknown as z.ZodType<HostRequestPayload<Name>>).safeParse(payload);
  if (!parsed.success) throw new ExtensionHostError('PROTOCOL', `the payload of ${op} is not in the protocol`);
  return handlers[op](parsed.data, requester, services);
}

function questionsOf({ session, extension }: Requester): SessionQuestions {
  if (session) return session.questions;
  throw new ExtensionHostError('PROTOCOL', `extension ${extension} asked a question outside of a session`);
}

function isRequest(op: string): op is HostRequestName {
  return Object.hasOwn(HOST_REQUESTS, op);
}
