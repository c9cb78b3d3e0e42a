import type { Limits } from '../shared/limits.ts';
import type { HostAnswers, HostRequestPayload } from '../shared/protocol.ts';
import type { HostIdentity } from './host-identity.ts';
import { Redactor } from './policy/redactor.ts';
import { cutResult } from './policy/result-cut.ts';
import { type HostEnvironment, SpawnPolicy } from './policy/spawn-policy.ts';
import type { ResultPolicy } from './result-finish.ts';
import type { Requester } from './thread/host-requests.ts';

export interface HostPolicyOptions {
  readonly identity: HostIdentity;
  readonly secrets: readonly string[];
  readonly hostEnv: () => HostEnvironment;
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
  readonly redactJson: ResultPolicy['redactJson'] = (value) => this.redactor.json(value);
  readonly redactContent: ResultPolicy['redactContent'] = (content) => this.redactor.content(content);
  readonly cut: ResultPolicy['cut'] = (wire) => cutResult(wire, this.redactor, this.#options.limits);

  /** `process.env` of a thread. */
  workerEnvironment(thread: string): Readonly<Record<string, string>> {
    return this.#spawn.workerEnvironment(this.#readHostEnv(), thread);
  }

  /** The exact environment of a process, and the id its epoch is. */
  prepare(
    { purpose, command, args, cwd, env }: HostRequestPayload<'process.prepare'>,
    { session, threadMark }: Requester,
  ): HostAnswers['process.prepare'] {
    this.#starts += 1;
    const timeZone = session?.timeZone;
    return {
      command,
      args,
      cwd,
      env: this.#spawn.environmentFor({
        hostEnv: this.#readHostEnv(),
        explicit: env,
        purpose,
        thread: threadMark,
        ...(timeZone === undefined ? {} : { timeZone }),
      }),
      id: `${this.#options.identity.nonce}-${this.#starts}`,
    };
  }

  /** The value of a variable that was granted. From now on it is redacted, when it looks like a secret. */
  readEnv(name: string): string | undefined {
    const hostEnv = this.#readHostEnv();
    this.redactor.add(this.#spawn.handedOut(hostEnv, name));
    return Object.hasOwn(hostEnv, name) ? hostEnv[name] : undefined;
  }

  /** Read at each spawn: what the filter keeps back is a secret from then on. */
  #readHostEnv(): HostEnvironment {
    const hostEnv = this.#options.hostEnv();
    this.redactor.add(this.#spawn.removedBy(hostEnv));
    return hostEnv;
  }
}
