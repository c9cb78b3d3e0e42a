import { resolve } from 'node:path';
import type { ExtensionHost } from '../index.ts';
import { Planner } from '../workflow/index.ts';
import type { Outbox } from './outbox.ts';
import { callOptions, define, type Method } from './rpc-method.ts';
import { invalidParams, PARAMS } from './rpc-params.ts';
import type { RpcSessions } from './rpc-sessions.ts';

interface WorkflowMethodsOptions {
  readonly host: ExtensionHost;
  readonly workspace: string | undefined;
  readonly sessions: RpcSessions;
  readonly outbox: Outbox;
}

/** `workflow/*`: the planner's surface. Steps run on a session the client has opened, runs on one of their own. */
export function workflowMethods({ host, workspace, sessions, outbox }: WorkflowMethodsOptions): [string, Method][] {
  const planner = new Planner(host, { cwd: workspace ?? process.cwd() });
  return [
    [
      'workflow/listCapabilities',
      define(PARAMS.nothing, async () => ({ capabilities: await planner.listCapabilities() })),
    ],
    [
      'workflow/refresh',
      define(PARAMS.workflowRefresh, async ({ connectionId }) => ({
        capabilities: await planner.refreshConnectionCatalog(connectionId),
      })),
    ],
    [
      'workflow/call',
      define(PARAMS.workflowCall, ({ sessionId, name, input = {} }, call) =>
        planner.callCapability(name, input, { ...callOptions(call, outbox), session: sessions.get(sessionId) }),
      ),
    ],
    [
      'workflow/run',
      define(PARAMS.workflowRun, ({ id, deployment, input = {}, cwd, ...options }, call) => {
        const what = deployment ?? id;
        if (what === undefined || (deployment !== undefined && id !== undefined))
          throw invalidParams('workflow/run', 'id: give the id of a deployment, or a deployment, and not both');
        const { signal, onProgress } = callOptions(call, outbox);
        let steps = 0;
        return planner.runDeployment(what, input, {
          ...options,
          ...(signal === undefined ? {} : { signal }),
          ...(cwd === undefined ? {} : { cwd: workspace === undefined ? cwd : resolve(workspace, cwd) }),
          onEvent: ({ node, outcome }) => onProgress?.({ progress: ++steps, message: `${node}: ${outcome}` }),
        });
      }),
    ],
  ];
}
