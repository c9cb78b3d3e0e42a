import { closeOnSignals, type Session } from '../index.ts';
import { createHost, type HostFlags, workspaceOf } from './host-flags.ts';
import { stderrLogger } from './terminal-log.ts';

/**
 * Runs `work` in a session of a host that is made for it and gone afterwards; gives what `work` gave. A signal ends both:
 * then this never settles, since the process is on its way out.
 * @throws ExtensionHostError CONFIG_INVALID, INVALID_ARGUMENT, and what `work` throws
 */
export async function useSession<T>(flags: HostFlags, work: (session: Session) => Promise<T>): Promise<T> {
  const cwd = workspaceOf(flags) ?? process.cwd();
  const host = createHost(flags, stderrLogger(flags.logLevel));
  let interrupted: Promise<void> | undefined;
  const release = closeOnSignals({
    close(options) {
      interrupted ??= host.close(options);
      return interrupted;
    },
  });
  const ended = async (): Promise<void> => {
    // What comes of the work now is only that its host was closed: nobody wants to read that.
    if (interrupted) await new Promise<never>(() => {});
    await host.close();
    release();
  };
  try {
    return await work(await host.openSession({ id: 'command-line', cwd }));
  } finally {
    await ended();
  }
}
