import { printable } from '../../shared/printable.ts';
import type { RunEvent, RunResult } from '../workflow/index.ts';

/** One line of the trace: node, outcome, time, process, names of what was sent. */
export function eventLine({ node, outcome, epoch, ms, argumentKeys }: RunEvent): string {
  const keys = argumentKeys.length === 0 ? 'nothing' : argumentKeys.join(', ');
  const process = epoch === '' ? '-' : epoch;
  return printable(
    `${node.padEnd(16)} ${outcome.padEnd(13)} ${ms.toFixed(0).padStart(6)} ms  ${process}  sent: ${keys}`,
  );
}

/** How the run ended, and the last node's output. */
export function resultText({ runId, outcome, message, output }: RunResult): string {
  const lines = ['', `${runId}: ${outcome}`];
  if (message !== undefined && message !== output?.content) lines.push(message);
  if (output !== undefined) lines.push(output.content);
  return lines.map((line) => printable(line, { keepNewlines: true })).join('\n');
}
