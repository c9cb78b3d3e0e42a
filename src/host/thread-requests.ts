import { ExtensionHostError } from '../shared/errors.ts';
import { variablesOfSettings } from '../shared/mcp-options.ts';
import { callGrantedTool } from './granted-tool-call.ts';
import type { HostLog } from './host-log.ts';
import type { HostPolicy } from './host-policy.ts';
import type { SharedCache } from './policy/shared-cache.ts';
import type { Session } from './session.ts';
import type { SettingsFile } from './settings.ts';
import type { ExtensionThread } from './thread/extension-thread.ts';
import { answerRequest, type Requester } from './thread/host-requests.ts';
import type { ThreadGeneration } from './thread/thread-generation.ts';
import { MCP_EXTENSION } from './thread/worker-entry.ts';

/** What a sandboxed extension's thread may ask for; its engine offers no more. */
const SANDBOXED_REQUESTS: ReadonlySet<string> = new Set([
  'env.get',
  'tool.call',
  'ui.confirm',
  'ui.select',
  'ui.input',
  'question.close',
]);

export interface ThreadRequestsOptions {
  readonly cache: SharedCache;
  readonly policy: HostPolicy;
  readonly settings: SettingsFile;
  readonly log: HostLog;
}

/** Answers what threads ask of the host, each with the grants of its extension and, on a session's port, for that session. */
export class ThreadRequests {
  readonly #options: ThreadRequestsOptions;

  constructor(options: ThreadRequestsOptions) {
    this.#options = options;
  }

  /** @throws PERMISSION_DENIED, PROTOCOL, or what the answer failed with; it goes back as data */
  async answer(
    { extension }: ExtensionThread,
    generation: ThreadGeneration,
    op: string,
    payload: unknown,
    session: Session | undefined,
  ): Promise<unknown> {
    const { id, env, tier, url } = extension;
    const { cache, policy, settings, log } = this.#options;
    if (tier === 'sandboxed' && !SANDBOXED_REQUESTS.has(op)) {
      throw new ExtensionHostError('PERMISSION_DENIED', `extension ${id} is sandboxed and may not ask for ${op}`);
    }
    // What the operator wrote into settings.json is granted as what he wrote into the options is.
    const mentioned = url === MCP_EXTENSION.href ? variablesOfSettings(settings.current) : [];
    const requester: Requester = {
      extension: id,
      grantedEnv: [...env, ...mentioned],
      owner: generation,
      threadMark: generation.mark,
      ...(session ? { session: askingSession(session) } : {}),
    };
    return answerRequest(op, payload, requester, {
      cache,
      prepare: (request, asking) => policy.prepare(request, asking),
      readEnv: (name) => {
        const facts = { extension: id, variable: name };
        log.write('info', `extension ${id} was given the host variable ${name}`, facts);
        return policy.readEnv(name);
      },
      callTool: (request) => callGrantedTool(request, extension, session),
    });
  }
}

function askingSession(session: Session): NonNullable<Requester['session']> {
  const { id, timeZone, questions } = session;
  return {
    id,
    ...(timeZone === undefined ? {} : { timeZone }),
    onSpawn: (event) => session.onSpawn(event),
    questions,
  };
}
