import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type JSValueHandle, QuickJS } from 'quickjs-wasi';

/** Longest text that crosses in either direction, in UTF-16 units: an answer of fetch or fs is at most 1 MiB. */
const MESSAGE_CHARACTERS = 2 * 1024 * 1024;

export interface VirtualMachineOptions {
  /** What its objects, strings and code may take. */
  readonly memoryBytes: number;
  /** Asked over and over while guest code runs; true ends it. Cannot be asked inside some native loops. */
  readonly interrupt: () => boolean;
  /** What the guest posts; the answer goes back to it at once. Throwing here throws nothing of ours into the guest. */
  readonly onMessage: (text: string) => string;
  /** The canonical name of an import. @throws with the text the guest is shown */
  readonly resolve: (base: string, specifier: string) => string;
  /** The JavaScript behind a canonical name. @throws with the text the guest is shown */
  readonly load: (name: string) => string;
}

/** One JavaScript machine of its own. It takes text and gives text; nothing else crosses. */
export interface VirtualMachine {
  /** Hands a text to the guest and runs it until it waits. @throws VirtualMachineStop; it is of no use afterwards */
  post(text: string): void;
  /** Linear memory: it never shrinks. */
  readonly memoryBytes: number;
  dispose(): void;
}

/** Why a machine ended: `memory`, or that guest code was stopped or broke the machine. */
export class VirtualMachineStop extends Error {
  readonly reason: 'memory' | 'stopped';

  constructor(reason: 'memory' | 'stopped', message: string) {
    super(message);
    this.name = 'VirtualMachineStop';
    this.reason = reason;
  }
}

let compiled: Promise<WebAssembly.Module> | undefined;

/** Compiled once a thread: 15 ms. */
function compile(): Promise<WebAssembly.Module> {
  compiled ??= readFile(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm')).then((bytes) =>
    WebAssembly.compile(bytes),
  );
  return compiled;
}

/**
 * Makes a machine whose guest side is `program`: the source of a function that gets `host(text)` and returns
 * `receive(text)`. The only file that knows the engine.
 */
export async function createVirtualMachine(program: string, options: VirtualMachineOptions): Promise<VirtualMachine> {
  const { memoryBytes, interrupt, onMessage, resolve, load } = options;
  let memory: WebAssembly.Memory | undefined;
  const vm = await QuickJS.create({
    wasm: await compile(),
    memoryLimit: memoryBytes,
    interruptHandler: interrupt,
    // UTC: the guest is told nothing about the host's clock settings.
    timezoneOffset: 0,
    wasi: (given) => {
      memory = given;
      // The engine's own output would go to the thread's stdout.
      return { fd_write: () => 8 };
    },
    moduleLoader: {
      normalize: (base, specifier) => shown(() => resolve(base, specifier)),
      load: (name) => shown(() => load(name)),
    },
  });
  const host = vm.newFunction('host', (text: JSValueHandle | undefined) =>
    // Strings only: converting anything else would run guest code.
    shown(() =>
      vm.newString(text?.isString && text.length <= MESSAGE_CHARACTERS ? onMessage(text.toString()) : TOO_LONG),
    ),
  );
  const install = vm.evalCode(program, 'caldera:guest');
  const receive = vm.callFunction(install, vm.undefined, host);
  return {
    post(text) {
      try {
        const given = vm.newString(text);
        vm.callFunction(receive, vm.undefined, given).dispose();
        given.dispose();
        vm.executePendingJobs();
      } catch (error) {
        throw stopOf(error);
      }
    },
    get memoryBytes() {
      return memory?.buffer.byteLength ?? 0;
    },
    dispose: () => vm.dispose(),
  };
}

const TOO_LONG = JSON.stringify({
  error: { code: 'INVALID_ARGUMENT', message: `more than ${MESSAGE_CHARACTERS} characters cannot leave the sandbox` },
});

/** The engine copies an error's stack into the guest: ours has none. */
function shown<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const bare = new Error(error instanceof Error ? error.message : 'it failed');
    bare.stack = '';
    throw bare;
  }
}

function stopOf(error: unknown): VirtualMachineStop {
  const message = error instanceof Error ? error.message : String(error);
  return new VirtualMachineStop(/out of memory|malloc failed/.test(message) ? 'memory' : 'stopped', message);
}
