import { ExtensionHostError, messageOf } from '../shared/errors.ts';
import { setOwn } from '../shared/json.ts';
import type { Limits } from '../shared/limits.ts';
import type { HostAnswers, HostRequestPayload } from '../shared/protocol.ts';
import type { HostIdentity } from './host-identity.ts';
import type { SpawnPolicyOptions, SpawnRequest } from './options.ts';
import { Redactor } from './policy/redactor.ts';
import { cutResult } from './policy/result-cut.ts';
import { type HostEnvironment, SpawnPolicy } from './policy/spawn-policy.ts';
import { cutText } from './policy/text-cut.ts';
import type { ResultPolicy } from './result-finish.ts';
import { withDeadline } from './thread/deadline.ts';
import type { Requester } from './thread/host-requests.ts';

export interface HostPolicyOptions {
  readonly identity: HostIdentity;
  readonly secrets: readonly string[];
  readonly hostEnv: () => HostEnvironment;
  readonly spawnPolicy?: SpawnPolicyOptions;
  readonly limits: Limits;
}

/** What the host decides and no extension can skip: who sees which variable, and what is taken out of everything said. */
export class HostPolicy implements ResultPolicy {
  readonly redactor: Redactor;
  readonly #options: HostPolicyOptions;
  readonly #spawn: SpawnPolicy;
  #starts = 0;

  constructor(options: HostPolicyOptions) {
    this.#options = options;
    this.redactor = new Redactor(options.secrets);
    this.#spawn = new SpawnPolicy({ ownerMark: options.identity.ownerMark, secrets: options.secrets });
  }

  readonly redactText: ResultPolicy['redactText'] = (text) => this.redactor.text(text);
  readonly cutText: ResultPolicy['cutText'] = (text, maxCharacters) => cutText(text, maxCharacters, this.redactor);
  readonly redactJson: ResultPolicy['redactJson'] = (value) => this.redactor.json(value);
  readonly redactContent: ResultPolicy['redactContent'] = (content) => this.redactor.content(content);
  readonly cut: ResultPolicy['cut'] = (wire) => cutResult(wire, this.redactor, this.#options.limits);

  /** `process.env` of a thread. */
  workerEnvironment(thread: string): Readonly<Record<string, string>> {
    return this.#spawn.workerEnvironment(this.#readHostEnv(), thread);
  }

  /**
   * What a process is started with: the host's own policy first, then the filter, then what the session's handlers say; the
   * owner mark is in it whatever they say. The id is its epoch.
   * @throws PERMISSION_DENIED when the host's policy refuses
   */
  async prepare(
    asked: HostRequestPayload<'process.prepare'>,
    requester: Requester,
  ): Promise<HostAnswers['process.prepare']> {
    const { session, threadMark } = requester;
    const request = await this.#changedByHost(spawnRequest(asked, requester));
    const hostEnv = this.#readHostEnv();
    const inherited = this.#inherited(hostEnv, request);
    const environment = (explicit: SpawnRequest['env']) =>
      this.#spawn.environmentFor({
        hostEnv,
        explicit,
        thread: threadMark,
        ...(inherited === undefined ? {} : { inherited }),
        ...(session?.timeZone === undefined ? {} : { timeZone: session.timeZone }),
      });
    const { purpose, origin, command, args, cwd } = request;
    let env = environment(request.env);
    const change = await session?.onSpawn({ purpose, origin, command, args, cwd, env });
    if (change) env = environment(mergedEntries(request.env, change));
    this.#starts += 1;
    return { command, args, cwd, env, id: `${this.#options.identity.nonce}-${this.#starts}` };
  }

  /** The value of a variable that was granted. From now on it is redacted, when it looks like a secret. */
  readEnv(name: string): string | undefined {
    const hostEnv = this.#readHostEnv();
    this.redactor.add(this.#spawn.handedOut(hostEnv, name));
    return Object.hasOwn(hostEnv, name) ? hostEnv[name] : undefined;
  }

  async #changedByHost(request: SpawnRequest): Promise<SpawnRequest> {
    const { spawnPolicy, limits } = this.#options;
    if (!spawnPolicy?.beforeSpawn) return request;
    const late = new Error(`it did not answer within ${limits.eventHandlerMs} ms`);
    try {
      const asking = Promise.resolve(spawnPolicy.beforeSpawn(request));
      const change = (await withDeadline(asking, limits.eventHandlerMs, late)) ?? {};
      const env = change.env === undefined ? request.env : mergedEntries(request.env, change.env);
      return { ...request, ...change, env };
    } catch (error) {
      throw refusal(request, error);
    }
  }

  #inherited(hostEnv: HostEnvironment, request: SpawnRequest): HostEnvironment | undefined {
    try {
      return this.#options.spawnPolicy?.inherit?.(hostEnv, request);
    } catch (error) {
      throw refusal(request, error);
    }
  }

  /** Read at each spawn: what the filter keeps back is a secret from then on. */
  #readHostEnv(): HostEnvironment {
    const hostEnv = this.#options.hostEnv();
    this.redactor.add(this.#spawn.removedBy(hostEnv));
    return hostEnv;
  }
}

function spawnRequest(asked: HostRequestPayload<'process.prepare'>, { extension, session }: Requester): SpawnRequest {
  return {
    ...asked,
    extension,
    ...(session === undefined ? {} : { sessionId: session.id }),
    ...(session?.timeZone === undefined ? {} : { timeZone: session.timeZone }),
  };
}

function mergedEntries(first: SpawnRequest['env'], then: SpawnRequest['env']): SpawnRequest['env'] {
  const merged = {};
  for (const [name, value] of [...Object.entries(first), ...Object.entries(then)]) setOwn(merged, name, value);
  return merged;
}

function refusal({ origin }: SpawnRequest, error: unknown): ExtensionHostError {
  return new ExtensionHostError('PERMISSION_DENIED', `the host's spawn policy refused ${origin}: ${messageOf(error)}`);
}
