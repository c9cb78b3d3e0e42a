import { ExtensionHostError, messageOf } from '../shared/errors.ts';
import { DEFAULT_LIMITS } from '../shared/limits.ts';
import { type ProbeReport, ProbeReportSchema, type ProbeTask } from '../shared/probe.ts';
import { PROBE_TASK } from './thread/worker-entry.ts';
import type { UntrustedContent } from './untrusted-extension.ts';

const DEADLINE_MS = 15_000;

/**
 * Finds out what an unknown extension would register: its factory runs in the sandbox's engine, without any permission, in a
 * thread of a pool of its own that is thrown away. Nothing of it is ever imported by Node.
 * @throws EXTENSION_LOAD_FAILED with the reason, or that it did not end in time
 */
export async function probeExtension({ root, entry, files, location }: UntrustedContent): Promise<ProbeReport> {
  // Loaded when it is needed: a host that probes nothing does without it.
  const { Piscina } = await import('piscina');
  const pool = new Piscina({
    filename: PROBE_TASK.href,
    minThreads: 1,
    maxThreads: 1,
    atomics: 'disabled',
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const { sandboxMemoryMb, sandboxCallMs, sandboxCpuMs, sandboxResultBytes } = DEFAULT_LIMITS;
  const task: ProbeTask = {
    boot: {
      root,
      entry,
      files,
      permissions: {},
      limits: {
        memoryMb: sandboxMemoryMb,
        callMs: sandboxCallMs,
        cpuMs: sandboxCpuMs,
        resultBytes: sandboxResultBytes,
      },
      allowPrivateNetwork: false,
      storageFile: '',
      memoryKb: new SharedArrayBuffer(4),
    },
    limits: DEFAULT_LIMITS,
  };
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  try {
    return ProbeReportSchema.parse(await pool.run(task, { signal: deadline }));
  } catch (error) {
    const why = deadline.aborted ? `it did not end within ${DEADLINE_MS / 1000} s` : messageOf(error);
    throw new ExtensionHostError('EXTENSION_LOAD_FAILED', `the probe of ${location} failed: ${why}`);
  } finally {
    await pool.destroy();
  }
}
