import { isProxyName, isSecretName, isSystemName } from './secret-names.ts';
import { hostSecretsIn, looksSecret, secretsIn, userinfoPasswords } from './secret-values.ts';

/** Names the host a process belongs to: `<host pid>:<host start>:<host nonce>`. */
export const OWNER_VARIABLE = 'CALDERA_OWNER';
/** Names the thread a process belongs to: `<pid namespace>:<host nonce>:<extension>#<generation>`. */
export const THREAD_VARIABLE = 'CALDERA_THREAD';

/** The host's variables as they are at this moment. */
export type HostEnvironment = Readonly<Record<string, string | undefined>>;

/** A complete environment: nothing is to be merged into it. */
export type ExactEnvironment = Readonly<Record<string, string>>;

export interface EnvironmentRequest {
  readonly hostEnv: HostEnvironment;
  /** Passed on whatever their names and values look like; null removes. */
  readonly explicit: Readonly<Record<string, string | null>>;
  /** Becomes `TZ`, unless an explicit entry says otherwise; not on Windows. Absent = the host's own `TZ` stays. */
  readonly timeZone?: string;
  /** The mark of the thread that starts it. */
  readonly thread?: string;
  /** What of the host's variables passes instead of what the filter lets through. */
  readonly inherited?: HostEnvironment;
}

/** Decides what a thread and a process see of the host's environment, and which of its values are secrets. */
export class SpawnPolicy {
  readonly #ownerMark: string;
  readonly #configured: readonly string[];
  readonly #windows: boolean;

  /** `secrets`: the configured ones; variables that hold one do not pass. */
  constructor(options: {
    readonly ownerMark: string;
    readonly secrets?: readonly string[];
    readonly platform?: NodeJS.Platform;
  }) {
    this.#ownerMark = options.ownerMark;
    this.#configured = (options.secrets ?? []).flatMap(secretsIn);
    this.#windows = (options.platform ?? process.platform) === 'win32';
  }

  /** The environment of one process. The marks are in it whatever the request says. */
  environmentFor({ hostEnv, explicit, timeZone, thread, inherited }: EnvironmentRequest): ExactEnvironment {
    // By folded name: Windows takes `Path` and `PATH` for one variable, and an object that has both for a coin toss.
    const entries = new Map<string, readonly [name: string, value: string]>();
    const set = (name: string, value: string) => entries.set(this.#folded(name), [name, value]);
    const passing = inherited
      ? definedEntries(inherited)
      : definedEntries(hostEnv).filter(([name, value]) => this.#passes(name, value));
    for (const [name, value] of passing) set(name, value);
    if (timeZone !== undefined && !this.#windows) set('TZ', timeZone);
    for (const [name, value] of Object.entries(explicit)) {
      entries.delete(this.#folded(name));
      if (value !== null) set(name, value);
    }
    entries.delete(this.#folded(OWNER_VARIABLE));
    set(OWNER_VARIABLE, this.#ownerMark);
    entries.delete(this.#folded(THREAD_VARIABLE));
    if (thread !== undefined) set(THREAD_VARIABLE, thread);
    return Object.fromEntries(entries.values());
  }

  /** The `process.env` of a thread: the same filter, so that no host secret ever enters it. */
  workerEnvironment(hostEnv: HostEnvironment, thread?: string): ExactEnvironment {
    return this.environmentFor({ hostEnv, explicit: {}, ...(thread === undefined ? {} : { thread }) });
  }

  /** The secrets that the filter keeps back, and the passwords of the proxies it lets through: what is to be redacted. */
  removedBy(hostEnv: HostEnvironment): readonly string[] {
    const values = definedEntries(hostEnv)
      .filter(([name, value]) => isProxyName(name) || !this.#passes(name, value))
      .map(([name, value]) => (isProxyName(name) ? withScheme(value) : value));
    return unknownTo(this.#keptValues(hostEnv), values.flatMap(hostSecretsIn));
  }

  /**
   * What is to be redacted after the variable was given to an extension: its value, though its name is innocent. Nothing
   * for `HOME` and its like, nor when another variable that everybody sees has the same value.
   */
  handedOut(hostEnv: HostEnvironment, name: string): readonly string[] {
    const value = Object.hasOwn(hostEnv, name) ? hostEnv[name] : undefined;
    if (value === undefined || isSystemName(name)) return [];
    return unknownTo(this.#keptValues(hostEnv, name), hostSecretsIn(isProxyName(name) ? withScheme(value) : value));
  }

  #passes(name: string, value: string): boolean {
    if (isSystemName(name) || isProxyName(name)) return true;
    if (isSecretName(name) || looksSecret(value)) return false;
    return !this.#configured.some((secret) => value.includes(secret));
  }

  #keptValues(hostEnv: HostEnvironment, except?: string): ReadonlySet<string> {
    const kept = definedEntries(hostEnv).filter(([name, value]) => name !== except && this.#passes(name, value));
    return new Set(kept.map(([, value]) => value.trim()));
  }

  #folded(name: string): string {
    return this.#windows ? name.toUpperCase() : name;
  }
}

function definedEntries(env: HostEnvironment): readonly (readonly [string, string])[] {
  return Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

function unknownTo(kept: ReadonlySet<string>, secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets)].filter((secret) => !kept.has(secret));
}

/** Proxies are also written without one (`user:password@proxy:8080`). */
function withScheme(proxy: string): string {
  return proxy.includes('://') || userinfoPasswords(`http://${proxy}`).length === 0 ? proxy : `http://${proxy}`;
}
