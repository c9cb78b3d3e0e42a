/* The program below runs inside the engine, so it may name nothing of this file or of Node. */

type Json = unknown;
type Callback = (...args: never[]) => unknown;

interface Pending {
  resolve(value: Json): void;
  reject(error: Error): void;
}

interface Run {
  readonly abort: (reason: Error) => void;
}

interface GuestRequest {
  readonly type: string;
  readonly id: number;
  readonly kind: string;
  readonly callback: number;
  readonly entry: string;
  readonly callId: string;
  readonly args: string;
  readonly params: Json;
  readonly event: Json;
  readonly api: Readonly<Record<string, Json>>;
  readonly ctx: Readonly<Record<string, Json>>;
  readonly reason: { code?: string; message: string };
  readonly value?: Json;
  readonly error?: { code?: string; message: string };
}

/**
 * The guest's half: builds the API object of a factory over one function that takes and gives JSON text. It is made for
 * comfort, not for safety: whatever it checks, the thread checks again.
 */
function installGuest(
  host: (text: string) => string,
  load: (name: string) => Promise<{ default?: unknown }>,
): (text: string) => void {
  const { parse, stringify } = JSON;
  const pending = new Map<number, Pending>();
  const runs = new Map<number, Run>();
  const callbacks = new Map<number, Callback>();
  let factory: Callback | undefined;
  let next = 1;

  class ExtensionHostError extends Error {
    readonly code: string;
    constructor(code: string, message: string) {
      super(message);
      this.name = code === 'ABORTED' ? 'AbortError' : 'ExtensionHostError';
      this.code = code;
    }
  }
  class ToolExecutionError extends Error {
    readonly result: Json;
    constructor(result: { content?: readonly { type?: Json; text?: Json }[] }) {
      const first = result.content?.[0];
      super(first?.type === 'text' ? String(first.text) : 'the tool reported an error');
      this.name = 'ToolExecutionError';
      this.result = result;
    }
  }
  const errorOf = (given: { code?: string; message: string }): Error =>
    new ExtensionHostError(given.code ?? 'PROTOCOL', given.message);
  const messageOf = (thrown: unknown): string => {
    try {
      if (thrown instanceof Error) return String(thrown.message || thrown.name);
      if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return String(thrown.message);
      return String(thrown);
    } catch {
      return 'an error that cannot be read';
    }
  };

  /** Answered at once. */
  const call = (op: string, payload: Json): Json => {
    const answer = parse(host(stringify({ type: 'call', op, payload }))) as {
      value?: Json;
      error?: { message: string };
    };
    if (answer.error) throw errorOf(answer.error);
    return answer.value;
  };
  /** Answered later. */
  const request = (op: string, payload: Json): Promise<Json> =>
    new Promise((resolve, reject) => {
      const id = next++;
      const text = stringify({ type: 'request', id, op, payload });
      pending.set(id, { resolve, reject });
      const answer = parse(host(text)) as { error?: { message: string } };
      if (!answer.error) return;
      pending.delete(id);
      reject(errorOf(answer.error));
    });
  const keep = (callback: unknown): number => {
    const id = next++;
    callbacks.set(id, callback as Callback);
    return id;
  };
  const refuse = (what: string): never => {
    call('denied', { what });
    throw new ExtensionHostError('PERMISSION_DENIED', `${what} is not available to a sandboxed extension`);
  };
  const refuseLater = async (what: string): Promise<never> => refuse(what);

  /** The part of AbortSignal that tools use. */
  const createSignal = (): { signal: object; abort: (reason: Error) => void } => {
    const listeners = new Set<Callback>();
    const state: { reason: Error | undefined } = { reason: undefined };
    const signal = {
      onabort: null as Callback | null,
      get aborted() {
        return state.reason !== undefined;
      },
      get reason() {
        return state.reason;
      },
      addEventListener(type: string, listener: unknown) {
        if (type === 'abort' && typeof listener === 'function') listeners.add(listener as Callback);
      },
      removeEventListener(_type: string, listener: Callback) {
        listeners.delete(listener);
      },
      throwIfAborted() {
        if (state.reason) throw state.reason;
      },
    };
    const abort = (reason: Error): void => {
      if (state.reason) return;
      state.reason = reason;
      for (const listener of [signal.onabort, ...listeners]) {
        try {
          listener?.(...([{ type: 'abort', target: signal }] as never[]));
        } catch {}
      }
      listeners.clear();
    };
    return { signal, abort };
  };
  /** Never fires: with the session the whole guest goes. */
  const life = createSignal();

  const createLogger = (): object => {
    const write =
      (level: string) =>
      (facts: unknown, message?: unknown): void => {
        call('log', {
          level,
          message: typeof facts === 'string' ? facts : typeof message === 'string' ? message : '',
          ...(typeof facts === 'object' && facts !== null ? { facts } : {}),
        });
      };
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  };
  const createConsole = (): object => {
    const write =
      (level: string) =>
      (...values: unknown[]): void => {
        const words = values.map((value) => (typeof value === 'string' ? value : String(stringify(value))));
        call('log', { level, message: words.join(' ') });
      };
    return {
      debug: write('debug'),
      log: write('info'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
    };
  };

  const createUi = (): object => ({
    notify: (text: unknown, level?: unknown) => void call('ui.notify', { text: String(text), level: level ?? 'info' }),
    setStatus: (key: unknown, text: unknown) => void call('ui.status', { key: String(key), text: String(text) }),
    confirm: (title: unknown, text: unknown) => request('ui.confirm', { title, text }),
    select: (title: unknown, options: unknown) => request('ui.select', { title, options }),
    input: (title: unknown, placeholder?: unknown) => request('ui.input', { title, placeholder }),
    ask: (question: unknown) => request('ui.ask', question),
  });

  const createContext = (given: Readonly<Record<string, Json>>): object => ({
    ...given,
    signal: life.signal,
    ui: createUi(),
    processes: { prepare: () => refuseLater('ctx.processes') },
    canSample: false,
    sample: () => refuseLater('ctx.sample'),
  });

  const createApi = (given: Readonly<Record<string, Json>>): object => {
    const api = {
      registerTool(tool: Readonly<Record<string, Json>> | null) {
        if (typeof tool !== 'object' || tool === null) {
          throw new ExtensionHostError('INVALID_ARGUMENT', 'registerTool needs a tool definition');
        }
        const { execute, ...definition } = tool;
        if (typeof execute !== 'function') {
          throw new ExtensionHostError('INVALID_ARGUMENT', `tool ${String(tool['name'])} has no execute function`);
        }
        const callback = keep((...args: never[]): unknown => (execute as Callback).apply(tool, args));
        call('tool.add', { callback, definition });
        return () => void call('tool.remove', { callback });
      },
      registerCommand(name: unknown, command: Readonly<Record<string, Json>>) {
        const { handler, description } = command;
        if (typeof handler !== 'function')
          throw new ExtensionHostError('INVALID_ARGUMENT', `command ${String(name)} has no handler function`);
        const callback = keep((...args: never[]): unknown => (handler as Callback).apply(command, args));
        call('command.add', { callback, name, description: typeof description === 'string' ? description : '' });
        return () => void call('command.remove', { callback });
      },
      on(event: unknown, handler: unknown, options?: { timeoutMs?: number }) {
        if (typeof handler !== 'function')
          throw new ExtensionHostError('INVALID_ARGUMENT', 'on needs a handler function');
        const callback = keep(handler);
        call('event.add', { callback, event: String(event), timeoutMs: options?.timeoutMs });
        return () => void call('event.remove', { callback });
      },
      getAllTools: () => call('tools', {}),
      getActiveTools: () => call('tools.active', {}),
      setActiveTools: () => refuse('api.setActiveTools'),
      sendMessage(message: Readonly<Record<string, Json>>) {
        call('message', {
          customType: String(message['customType']),
          content: message['content'],
          display: message['display'] !== false,
        });
      },
      reportFailure(failure: Readonly<Record<string, Json>>) {
        call('failure', failure);
      },
      options: given['options'],
      sessionId: given['sessionId'],
      logger: createLogger(),
      ui: createUi(),
      processes: { prepare: () => refuseLater('api.processes'), track: () => refuse('api.processes') },
      env: { get: (name: unknown) => request('env.get', { name }) },
      cache: { once: () => refuseLater('api.cache'), drop: () => refuse('api.cache') },
    };
    for (const name of ['settings', 'agentDir', 'limits']) {
      // Not enumerable: printing the object must not trip over them.
      Object.defineProperty(api, name, { get: () => refuse(`api.${name}`), enumerable: false });
    }
    return api;
  };

  const text = (value: unknown): string => {
    if (typeof value !== 'string')
      throw new ExtensionHostError('INVALID_ARGUMENT', `a string is needed, not ${typeof value}`);
    return value;
  };
  const createResponse = (given: {
    url: string;
    status: number;
    headers: Readonly<Record<string, string>>;
    body: string;
  }): object => ({
    url: given.url,
    status: given.status,
    ok: given.status >= 200 && given.status < 300,
    headers: { ...given.headers, get: (name: string) => given.headers[String(name).toLowerCase()] ?? null },
    text: async () => given.body,
    json: async () => parse(given.body) as Json,
  });
  const library = {
    defineExtension: (given: unknown) => given,
    ToolExecutionError,
    fetch: async (url: unknown, options: Readonly<Record<string, Json>> = {}) => {
      const { method, headers, body } = options;
      return createResponse((await request('fetch', { url: String(url), method, headers, body })) as never);
    },
    storage: {
      get: (key: unknown) => request('storage.get', { key }),
      set: (key: unknown, value: unknown) => request('storage.set', { key, value }),
      delete: (key: unknown) => request('storage.delete', { key }),
      keys: () => request('storage.keys', {}),
    },
    fs: {
      readFile: (path: unknown) => request('fs.read', { path }),
      writeFile: async (path: unknown, content: unknown) =>
        void (await request('fs.write', { path, text: text(content) })),
      readdir: (path: unknown) => request('fs.list', { path }),
    },
    mcp: {
      callTool: (server: unknown, tool: unknown, args: unknown = {}) =>
        request('mcp.call', { server, tool, arguments: args }),
    },
  };
  Object.defineProperty(globalThis, Symbol.for('caldera.extension'), { value: Object.freeze(library) });
  Object.defineProperty(globalThis, 'console', { value: createConsole(), writable: true, configurable: true });

  const perform = async (message: GuestRequest, signal: object): Promise<Json> => {
    const { kind } = message;
    if (kind === 'load') {
      const loaded = await load(message.entry);
      if (typeof loaded.default !== 'function') {
        throw new Error(
          `it has no factory: its default export must be a function (api) => void, but is ${loaded.default === undefined ? 'missing' : typeof loaded.default}`,
        );
      }
      factory = loaded.default as Callback;
      return null;
    }
    if (kind === 'activate') {
      await factory?.(...([createApi(message.api)] as never[]));
      return null;
    }
    const callback = callbacks.get(message.callback);
    if (!callback) throw new ExtensionHostError('UNKNOWN_TOOL', 'it is not registered any more');
    const ctx = createContext(message.ctx);
    if (kind === 'command') return await callback(...([message.args, ctx] as never[]));
    if (kind === 'event') return await callback(...([message.event, ctx] as never[]));
    const onUpdate = (progress: Json): void => void call('progress', { run: message.id, progress });
    return await callback(...([message.callId, message.params, signal, onUpdate, ctx] as never[]));
  };

  const failureText = (id: number, thrown: unknown): string => {
    const message = messageOf(thrown);
    try {
      // A proxy can throw here, a result can be cyclic.
      const code: unknown = thrown instanceof ExtensionHostError ? thrown.code : undefined;
      const result: unknown = thrown instanceof ToolExecutionError ? thrown.result : undefined;
      return stringify({ type: 'done', id, ok: false, error: { message, code, result } });
    } catch {
      return stringify({ type: 'done', id, ok: false, error: { message } });
    }
  };

  const start = async (message: GuestRequest): Promise<void> => {
    const { id } = message;
    const { signal, abort } = createSignal();
    runs.set(id, { abort });
    let answer: string;
    try {
      answer = stringify({ type: 'done', id, ok: true, value: await perform(message, signal) });
    } catch (thrown) {
      answer = failureText(id, thrown);
    }
    runs.delete(id);
    const { error } = parse(host(answer)) as { error?: { message: string } };
    if (error) host(stringify({ type: 'done', id, ok: false, error }));
  };

  return (given) => {
    const message = parse(given) as GuestRequest;
    switch (message.type) {
      case 'run':
        void start(message);
        break;
      case 'abort':
        runs.get(message.id)?.abort(errorOf(message.reason));
        break;
      case 'answer': {
        const waiting = pending.get(message.id);
        pending.delete(message.id);
        if (message.error) waiting?.reject(errorOf(message.error));
        else waiting?.resolve(message.value);
        break;
      }
    }
  };
}

/** The source of that function: types are gone by the time this runs, and what is left is plain JavaScript. */
export const GUEST_PROGRAM = `(host) => (${installGuest.toString()})(host, (name) => import(name))`;

/** What `import … from 'caldera/extension'` is in the guest. */
export const GUEST_LIBRARY = `
const library = globalThis[Symbol.for('caldera.extension')];
export const { defineExtension, ToolExecutionError, fetch, storage, fs, mcp } = library;
`;
