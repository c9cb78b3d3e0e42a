import { realpathSync } from 'node:fs';
import { ExtensionHostError, messageOf } from '../../shared/errors.ts';
import type { ExtensionContext, ExtensionFactory } from '../../shared/extension-api.ts';
import type { PermissionUse, SandboxBoot } from '../../shared/sandbox.ts';
import { type SharedCapabilities, sharedCapabilities, type ToolCaller } from './capabilities.ts';
import { Guest, type GuestOptions } from './guest.ts';
import { ModuleLoader } from './module-loader.ts';
import { SandboxSession } from './sandbox-session.ts';
import { createTypeStripper } from './strip-types.ts';
import { UsageCounter } from './usage.ts';

/** What the sandbox is told about the session that an instance is for. */
export interface SandboxedInstance {
  readonly context: ExtensionContext;
  readonly callTool: ToolCaller;
}

/** The engine as the runtime sees it: something that loads once and gives a factory for each session. */
export interface Sandbox {
  /** Evaluates the extension's file in a guest. @throws EXTENSION_LOAD_FAILED with the reason */
  load(): Promise<void>;
  factoryFor(instance: SandboxedInstance): ExtensionFactory;
}

/** `tell` gets the counts of permissions whenever they change. */
export function createSandbox(boot: SandboxBoot, tell: (use: PermissionUse) => void): Sandbox {
  return new QuickJsSandbox(boot, tell);
}

/** A guest with the extension's file in it, which nobody answers yet. */
interface Evaluated {
  readonly guest: Guest;
  readonly bind: (handlers: Pick<GuestOptions, 'onCall' | 'onRequest'>) => void;
}

class QuickJsSandbox implements Sandbox {
  readonly #boot: SandboxBoot;
  readonly #usage: UsageCounter;
  readonly #shared: SharedCapabilities;
  readonly #guests = new Set<Guest>();
  #modules: Promise<ModuleLoader> | undefined;
  /** The guest that the file was first evaluated in; the first session gets it. */
  #spare: Evaluated | undefined;

  constructor(boot: SandboxBoot, tell: (use: PermissionUse) => void) {
    this.#boot = boot;
    this.#usage = new UsageCounter(tell);
    this.#shared = sharedCapabilities(boot);
  }

  async load(): Promise<void> {
    this.#spare = await this.#evaluate();
  }

  factoryFor({ context, callTool }: SandboxedInstance): ExtensionFactory {
    return async (api) => {
      const session = new SandboxSession({
        api,
        context,
        callTool,
        root: this.#boot.root,
        workspace: realpathSync(context.cwd),
        limits: this.#boot.limits,
        shared: this.#shared,
        usage: this.#usage,
        createGuest: async (handlers) => {
          const evaluated = this.#spare ?? (await this.#evaluate());
          this.#spare = undefined;
          evaluated.bind(handlers);
          return evaluated.guest;
        },
      });
      await session.activate();
    };
  }

  async #evaluate(): Promise<Evaluated> {
    let handlers: Pick<GuestOptions, 'onCall' | 'onRequest'> = {
      onCall: refuseBeforeFactory,
      onRequest: async () => refuseBeforeFactory(),
    };
    const { limits, entry } = this.#boot;
    this.#modules ??= this.#createLoader();
    const guest: Guest = await Guest.create({
      modules: await this.#modules,
      limits,
      onCall: (op, payload) => handlers.onCall(op, payload),
      onRequest: (op, payload, signal) => handlers.onRequest(op, payload, signal),
      onMemory: () => this.#countMemory(),
    });
    this.#guests.add(guest);
    this.#countMemory();
    try {
      await guest.run({ kind: 'load', entry: ModuleLoader.entry(entry) });
    } catch (error) {
      const failed = new ExtensionHostError(
        'EXTENSION_LOAD_FAILED',
        `cannot load ${entry} in the sandbox: ${messageOf(error)}`,
      );
      guest.end(failed);
      this.#countMemory();
      throw failed;
    }
    return {
      guest,
      bind: (given) => {
        handlers = given;
      },
    };
  }

  async #createLoader(): Promise<ModuleLoader> {
    const { root, files } = this.#boot;
    const hasTypes = Object.keys(files).some((file) => file.endsWith('.ts'));
    return new ModuleLoader({ root, files, strip: hasTypes ? await createTypeStripper() : (source) => source });
  }

  #countMemory(): void {
    let bytes = 0;
    for (const guest of this.#guests) {
      if (guest.alive) bytes += guest.memoryBytes;
      else this.#guests.delete(guest);
    }
    Atomics.store(new Int32Array(this.#boot.memoryKb), 0, Math.ceil(bytes / 1024));
  }
}

/** At the top of a file there is no session yet. */
function refuseBeforeFactory(): never {
  throw new ExtensionHostError('PERMISSION_DENIED', 'nothing of caldera is available before the factory is called');
}
