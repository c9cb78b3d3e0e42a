/** How a server's process ended. */
export interface ExitReport {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it was over before the process exited: it closed its stdout, or flooded it. */
  readonly reason?: string;
  /** Control characters are escaped, newlines kept. */
  readonly stderrTail: string;
}

/** `1`, `SIGKILL`, or the reason. */
export function exitCause({ code, signal, reason }: ExitReport): string {
  return reason ?? signal ?? String(code ?? 'unknown');
}
