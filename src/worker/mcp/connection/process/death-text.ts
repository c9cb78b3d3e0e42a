import type { ServerConfig } from '../../../../shared/mcp-options.ts';
import { type ExitReport, exitCause } from './exit-report.ts';

/** What a model is told when its server died; the texts that tests and agents look for. */
export function deathText({ name, preset }: Pick<ServerConfig, 'name' | 'preset'>, report: ExitReport): string {
  const tail = report.stderrTail === '' ? '' : `: ${report.stderrTail}`;
  return `${name} MCP server exited (${exitCause(report)})${tail}. It restarts on the next call; ${preset === 'playwright' ? 'browser' : 'its'} state was lost.`;
}
