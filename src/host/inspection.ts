import type { Tier } from '../shared/sandbox.ts';
import type { Failure } from '../shared/tool.ts';
import { packageVersion } from './host-identity.ts';
import type { HostInspection } from './options.ts';
import type { Session } from './session.ts';
import type { ExtensionThread } from './thread/extension-thread.ts';
import { rssMb } from './thread/process-list.ts';

const MB = 1024 * 1024;
const KB_PER_MB = 1024;

export interface InspectedHost {
  readonly startedAt: number;
  readonly threads: readonly ExtensionThread[];
  readonly sessions: readonly Session[];
  /** Why an extension that has no thread is not there. */
  readonly unresolved: readonly (Failure & { readonly tier: Tier })[];
  readonly eventLoop: HostInspection['eventLoop'];
}

/** The snapshot behind `host.inspect()`. Asks no thread: a stalled one must not stall it. */
export function inspectHost({ startedAt, threads, sessions, unresolved, eventLoop }: InspectedHost): HostInspection {
  const memory = process.memoryUsage();
  return {
    version: packageVersion(),
    pid: process.pid,
    uptimeMs: Date.now() - startedAt,
    eventLoop,
    memory: { rssMb: Math.round(memory.rss / MB), heapMb: Math.round(memory.heapUsed / MB) },
    extensions: [...threads.map((thread) => inspectThread(thread, sessions)), ...unresolved.map(inspectUnresolved)],
    sessions: sessions.map(({ id, cwd, tools, inFlight, openedAt }) => ({
      id,
      cwd,
      tools: tools.length,
      inFlight,
      openedAt: openedAt.toISOString(),
    })),
    processes: threads.flatMap(inspectProcesses),
  };
}

function inspectThread(thread: ExtensionThread, sessions: readonly Session[]): HostInspection['extensions'][number] {
  const { extension, state, generation, current, reason, permissionUse } = thread;
  const own: Failure[] = reason ? [{ extension: extension.id, code: reason.code, message: reason.message }] : [];
  const vitals = current?.vitals;
  const seen = sessions.flatMap(({ failures }) => failures.filter((failure) => failure.extension === extension.id));
  return {
    name: extension.id,
    path: extension.path,
    tier: extension.tier,
    ...(extension.sandbox
      ? {
          permissions: {
            requested: extension.requested ?? {},
            granted: extension.sandbox.permissions,
            ...permissionUse,
          },
        }
      : {}),
    state,
    threads: [
      {
        state,
        generation,
        sessions: sessions.length,
        restarts: Math.max(0, generation - 1),
        utilization: current?.alive ? Math.round(current.utilization * 1000) / 1000 : 0,
        heapMb: Math.round(((vitals?.heapKb ?? 0) + (vitals?.externalKb ?? 0)) / KB_PER_MB),
        beatAgeMs: Math.round(current?.alive ? current.beatAgeMs : 0),
        droppedNotes: (vitals?.droppedNotes ?? 0) + (current?.meter.dropped ?? 0),
        ...(extension.sandbox ? { sandboxMb: Math.ceil((current?.sandboxKb ?? 0) / 1024) } : {}),
        pids: current?.processes.running.map(({ pid }) => pid) ?? [],
      },
    ],
    failures: [...own, ...seen],
  };
}

function inspectUnresolved({
  tier,
  ...failure
}: Failure & { readonly tier: Tier }): HostInspection['extensions'][number] {
  return {
    name: failure.extension,
    path: failure.extension,
    tier,
    state: 'failed',
    threads: [],
    failures: [failure],
  };
}

function inspectProcesses({ extension, current }: ExtensionThread): HostInspection['processes'] {
  return (current?.processes.running ?? []).map(({ pid, server, sessionId }) => ({
    pid,
    extension: extension.id,
    ...(sessionId === undefined ? {} : { session: sessionId }),
    ...(server === undefined ? {} : { server }),
    state: 'running' as const,
    rssMb: rssMb(pid),
  }));
}
