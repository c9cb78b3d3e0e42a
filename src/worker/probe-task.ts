import { messageOf } from '../shared/errors.ts';
import type { ExtensionApi, ExtensionContext } from '../shared/extension-api.ts';
import type { ProbeReport, ProbeTask } from '../shared/probe.ts';
import { NO_USE } from '../shared/sandbox.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import { ToolTableBuilder } from './tool-table.ts';

const LISTED = 2000;

/** Runs an extension's factory in the engine and lists what it registers. The pool's thread is thrown away afterwards. */
export default async function probe({ boot, limits }: ProbeTask): Promise<ProbeReport> {
  let use = NO_USE;
  const sandbox = createSandbox(boot, (now) => {
    use = now;
  });
  await sandbox.load();
  const life = new AbortController();
  const { api, report } = recordingApi(limits);
  const denied = async (): Promise<never> => {
    throw new Error('nothing is called while an extension is probed');
  };
  await sandbox.factoryFor({ context: contextOf(boot.root, life.signal), callTool: denied })(api);
  life.abort();
  return { ...report(), use };
}

function recordingApi(limits: ProbeTask['limits']): {
  readonly api: ExtensionApi;
  readonly report: () => Omit<ProbeReport, 'use'>;
} {
  const tools = new ToolTableBuilder(limits);
  const commands = new Map<string, string>();
  const events = new Set<string>();
  const failures: string[] = [];
  const note = (text: string): void => {
    if (failures.length < LISTED) failures.push(text);
  };
  const api = {
    registerTool: (tool: Parameters<ExtensionApi['registerTool']>[0]) => {
      try {
        const refused = tools.add(tool);
        if (refused) note(refused.message);
      } catch (error) {
        note(messageOf(error));
      }
      return () => tools.remove(tool.name);
    },
    registerCommand: (name: string, { description }: { readonly description: string }) => {
      if (commands.size < LISTED) commands.set(name.slice(0, 64), description.slice(0, 1024));
      return () => void commands.delete(name);
    },
    on: (event: string) => {
      events.add(event);
      return () => {};
    },
    getActiveTools: () => [],
    sendMessage: () => {},
    reportFailure: ({ message }: { readonly message: string }) => note(message),
    options: {},
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    env: { get: async () => undefined },
  };
  const report = (): Omit<ProbeReport, 'use'> => ({
    tools: tools.wireTools.map(({ name, description }) => ({ name, description })),
    commands: [...commands].map(([name, description]) => ({ name, description })),
    events: [...events],
    failures,
  });
  return { api: api as unknown as ExtensionApi, report };
}

function contextOf(cwd: string, signal: AbortSignal): ExtensionContext {
  const ui = { notify() {}, setStatus() {} };
  return {
    sessionId: 'probe',
    cwd,
    signal,
    ui,
    processes: { prepare: () => Promise.reject(new Error('not while probed')) },
  } as unknown as ExtensionContext;
}
