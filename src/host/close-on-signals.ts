const TERM_MS = 4500;
const INT_MS = 1200;

/**
 * For programs that own their process: SIGTERM and SIGHUP (the terminal was closed) run the whole stop and end within 5 s,
 * SIGINT within 1.5 s, a second SIGINT at once; the exit code is 128 + the signal. The library installs no handler by itself.
 * Gives a function that takes the handlers away again.
 */
export function closeOnSignals(host: { close(options: { readonly timeoutMs: number }): Promise<void> }): () => void {
  let interrupted = false;
  const end = (code: number, timeoutMs: number): void => {
    // Unhandled, a rejection would end the process before its time.
    void host
      .close({ timeoutMs })
      .catch(() => {})
      .finally(() => process.exit(code));
    setTimeout(() => process.exit(code), timeoutMs + 300).unref();
  };
  const onTerm = (): void => end(143, TERM_MS);
  const onHangup = (): void => end(129, TERM_MS);
  const onInt = (): void => {
    if (interrupted) process.exit(130);
    interrupted = true;
    end(130, INT_MS);
  };
  process.on('SIGTERM', onTerm);
  process.on('SIGHUP', onHangup);
  process.on('SIGINT', onInt);
  return () => {
    process.off('SIGTERM', onTerm);
    process.off('SIGHUP', onHangup);
    process.off('SIGINT', onInt);
  };
}
