import { ExtensionHostError, toWireError } from '../shared/errors.ts';
import type { EventName } from '../shared/events.ts';
import type { CommandDefinition, ExtensionApi, ToolDefinition } from '../shared/extension-api.ts';
import { isRecord, type JsonValue } from '../shared/json.ts';
import { copyJson } from '../shared/json-copy.ts';
import type { ToolSnapshot } from '../shared/protocol.ts';
import { cutWithOverlap } from '../shared/text-caps.ts';
import type { Failure } from '../shared/tool.ts';
import { claimOnce } from './host-cache.ts';
import type { ThreadServices } from './thread-services.ts';

const MESSAGE_BOUNDS = { maxDepth: 32, maxBytes: 64 * 1024 };

/** What the API object does for its instance. */
export interface InstancePort {
  readonly sessionId: string;
  registerTool(definition: ToolDefinition): () => void;
  registerCommand(name: string, command: CommandDefinition): () => void;
  on(event: EventName, handler: unknown, timeoutMs: number | undefined): () => void;
  tools(): ToolSnapshot;
  setActiveTools(names: readonly string[]): void;
  sendMessage(customType: string, content: JsonValue, display: boolean): void;
  reportFailure(failure: Omit<Failure, 'extension'>): void;
}

/** Builds the object a factory is given: it checks what an author can get wrong and passes the rest on. */
export function createExtensionApi(services: ThreadServices, instance: InstancePort): ExtensionApi {
  const { control, log, limits, ledger } = services;
  return {
    registerTool: (tool) => {
      if (!isRecord(tool)) throw new ExtensionHostError('INVALID_ARGUMENT', 'registerTool needs a tool definition');
      return instance.registerTool(tool);
    },
    registerCommand: (name, command) => {
      if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name)) {
        throw new ExtensionHostError(
          'INVALID_ARGUMENT',
          `a command's name must match [A-Za-z0-9][A-Za-z0-9_-]{0,63}, not ${JSON.stringify(name)}`,
        );
      }
      if (!isRecord(command) || typeof command.handler !== 'function') {
        throw new ExtensionHostError('INVALID_ARGUMENT', `command ${name} has no handler function`);
      }
      return instance.registerCommand(name, command);
    },
    on: (event, handler, options) => instance.on(event, handler, options?.timeoutMs),
    getAllTools: () => instance.tools().tools.map(({ name, source }) => ({ name, source })),
    getActiveTools: () => [...instance.tools().active],
    setActiveTools: (names) => {
      if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
        throw new ExtensionHostError('INVALID_ARGUMENT', 'setActiveTools needs a list of tool names');
      }
      instance.setActiveTools(names);
    },
    sendMessage: ({ customType, content, display }) => {
      const copied = copyJson(content, MESSAGE_BOUNDS);
      if (!copied.ok)
        throw new ExtensionHostError('INVALID_ARGUMENT', `the content of a message cannot be sent: ${copied.reason}`);
      instance.sendMessage(String(customType).slice(0, 64), copied.value, display !== false);
    },
    reportFailure: ({ server, tool, code, message }) =>
      instance.reportFailure({
        ...(server === undefined ? {} : { server }),
        ...(tool === undefined ? {} : { tool }),
        code,
        message: cutWithOverlap(String(message), limits.descriptionBytes, services.overlapBytes),
      }),
    options: services.options,
    get settings() {
      return services.settings.current;
    },
    agentDir: services.agentDir,
    sessionId: instance.sessionId,
    limits,
    logger: log,
    processes: {
      prepare: (request) => control.request('process.prepare', { ...request, args: [...request.args] }),
      track: (note) => ledger.track(note),
    },
    env: { get: async (name) => (await control.request('env.get', { name })).value },
    cache: {
      once: (key, produce, { failureTtlMs, persist = false }) =>
        claimOnce(control, key, produce, { failureTtlMs, persist }),
      drop: (key) => {
        control.request('cache.drop', { key }).catch((error: unknown) => {
          log.debug({ key, error: toWireError(error, 'HOST_CLOSED').message }, 'a cached value could not be dropped');
        });
      },
    },
  };
}
