import { resolve } from 'node:path';
import { abortError, ExtensionHostError } from '../../shared/errors.ts';
import { nearestName } from '../../shared/nearest-name.ts';
import type { ExtensionHost } from '../index.ts';
import { RPC_CODES, RpcError } from './json-rpc-error.ts';
import type { RpcCall } from './json-rpc-stream.ts';
import type { Outbox } from './outbox.ts';
import { callOptions, define, type Method } from './rpc-method.ts';
import { invalidParams, PARAMS } from './rpc-params.ts';
import { type AskClient, clientSampling, clientUi } from './rpc-questions.ts';
import { RpcSessions } from './rpc-sessions.ts';
import { workflowMethods } from './rpc-workflow.ts';

export interface RpcMethodsOptions {
  readonly host: ExtensionHost;
  /** Settles when the host has started. */
  readonly started: Promise<unknown>;
  /** Where sessions without a cwd work, and what a relative cwd starts from. */
  readonly workspace: string | undefined;
  readonly outbox: Outbox;
  /** Asks the client. */
  readonly ask: AskClient;
  /** The whole stop; resolves when it is done. */
  readonly close: () => Promise<void>;
}

/** Answers a request. @throws RpcError for an unknown method or bad params; whatever the host throws */
export type RpcDispatch = (method: string, params: unknown, call: RpcCall) => Promise<object>;

/** What `caldera rpc` answers. Bad params are answered at once, the rest when the host has started. */
export function rpcDispatch(options: RpcMethodsOptions): RpcDispatch {
  const methods = methodTable(options);
  let closing = false;
  let isStarted = false;
  options.started.then(
    () => {
      isStarted = true;
    },
    () => undefined,
  );
  return async (name, params, call) => {
    const method = methods.get(name);
    if (!method) throw unknownMethod(name, [...methods.keys()]);
    const run = method.prepare(name, params, call);
    if (name === 'host/close') closing = true;
    if (method.always) return run();
    if (closing) throw new ExtensionHostError('HOST_CLOSED', `${name}: the host is closing; start another one`);
    // No tick is lost once it has: what comes in one piece is begun in its order, a call before the close behind it.
    if (!isStarted) await orAborted(options.started, call.signal, name);
    return run();
  };
}

/** Every request there is, by name. */
export function methodTable({ host, workspace, outbox, ask, close }: RpcMethodsOptions): ReadonlyMap<string, Method> {
  const sessions = new RpcSessions(outbox);
  return new Map([
    ['host/inspect', define(PARAMS.nothing, () => host.inspect(), { always: true })],
    ['host/close', define(PARAMS.nothing, () => close().then(() => ({})), { always: true })],
    [
      'session/open',
      define(
        PARAMS.sessionOpen,
        async ({ sessionId, cwd = workspace, timeZone, activeTools, ui, sampling }, { signal }) => {
          if (cwd === undefined)
            throw invalidParams('session/open', 'cwd: is missing; give the workspace of the session');
          const session = await host.openSession({
            id: sessionId,
            cwd: workspace === undefined ? cwd : resolve(workspace, cwd),
            signal,
            ...(timeZone === undefined ? {} : { timeZone }),
            ...(activeTools === undefined ? {} : { activeTools }),
            ...(ui === true ? { ui: clientUi(sessionId, ask) } : {}),
            ...(sampling === true ? { onSampling: clientSampling(sessionId, ask) } : {}),
          });
          sessions.add(session);
          return { tools: session.tools, commands: session.commands, failures: session.failures };
        },
      ),
    ],
    ['session/tools', define(PARAMS.session, ({ sessionId }) => ({ tools: sessions.get(sessionId).tools }))],
    [
      'session/prompt',
      define(PARAMS.sessionPrompt, ({ sessionId, prompt = '' }, { signal }) =>
        orAborted(sessions.get(sessionId).beforeAgentStart({ prompt }), signal, 'session/prompt'),
      ),
    ],
    [
      'session/restart',
      define(PARAMS.sessionRestart, async ({ sessionId, reason }) => {
        await sessions.get(sessionId).restart(reason);
        return {};
      }),
    ],
    [
      'session/close',
      define(PARAMS.sessionClose, async ({ sessionId, reason = 'quit' }) => {
        await sessions.close(sessionId, reason);
        return {};
      }),
    ],
    [
      'tool/call',
      define(PARAMS.toolCall, ({ sessionId, name, arguments: args, timeoutMs }, call) =>
        sessions
          .get(sessionId)
          .callTool(
            { name, ...(args === undefined ? {} : { arguments: args }) },
            { ...callOptions(call, outbox), ...(timeoutMs === undefined ? {} : { timeoutMs }) },
          ),
      ),
    ],
    [
      'tool/callBatch',
      define(PARAMS.toolCallBatch, async ({ sessionId, calls }, call) => ({
        results: await sessions.get(sessionId).callTools(calls, callOptions(call, outbox)),
      })),
    ],
    [
      'command/run',
      define(PARAMS.commandRun, ({ sessionId, name, args = '' }, { signal }) =>
        orAborted(sessions.get(sessionId).runCommand(name, args), signal, 'command/run'),
      ),
    ],
    [
      'extension/reload',
      define(PARAMS.extensionReload, async ({ path }) => {
        await host.reload(path);
        return {};
      }),
    ],
    ...workflowMethods({ host, workspace, sessions, outbox }),
  ]);
}

function unknownMethod(name: string, known: readonly string[]): RpcError {
  const nearest = nearestName(name, known) ?? '';
  return new RpcError(
    RPC_CODES.methodNotFound,
    `there is no method "${name.slice(0, 200)}"; did you mean "${nearest}"?`,
  );
}

/** What `work` gives, or an abort at once. The work itself goes on to its own end: nothing in it can be called back. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal, what: string): Promise<T> {
  if (signal.aborted) throw abortError(what, signal);
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(abortError(what, signal));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
