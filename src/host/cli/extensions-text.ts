import { printable } from '../../shared/printable.ts';
import type { ProbeReport } from '../../shared/probe.ts';
import type { Permissions, PermissionUse } from '../../shared/sandbox.ts';
import type { ListedExtension } from './extension-listing.ts';

/** One extension for people. What an extension says of itself never reaches the terminal raw. */
export function extensionText({
  id,
  tier,
  path,
  hash,
  problem,
  requested,
  granted,
  used,
  denied,
}: ListedExtension): string {
  const lines = [`${printable(id)} (${tier})`, `  ${printable(path)}`];
  if (problem !== undefined) return [...lines, `  cannot be loaded: ${printable(problem)}`].join('\n');
  if (hash !== undefined) lines.push(`  ${hash}`);
  if (tier === 'trusted') return [...lines, '  runs with everything this program may do'].join('\n');
  return [
    ...lines,
    indent(permissionsText('requested', requested)),
    indent(permissionsText('granted', granted)),
    `  used:      ${countsText(used)}`,
    `  denied:    ${countsText(denied)}`,
  ].join('\n');
}

export function permissionsText(title: string, permissions: Permissions): string {
  const entries = Object.entries(permissions);
  if (entries.length === 0) return `${`${title}:`.padEnd(11)}nothing`;
  return [`${title}:`, ...entries.map(([key, value]) => `  ${key.padEnd(9)}${printable(JSON.stringify(value))}`)].join(
    '\n',
  );
}

export function probeText({ tools, commands, events, failures, use }: ProbeReport): string {
  const named = (list: ProbeReport['tools'], sign: string): string[] =>
    list.map(
      ({ name, description }) =>
        `  ${sign}${printable(name)}  ${printable(description.split('\n')[0] ?? '').slice(0, 100)}`,
    );
  return [
    `registers ${tools.length} tools, ${commands.length} commands, ${events.length} event handlers:`,
    ...named(tools, ''),
    ...named(commands, '/'),
    ...(events.length > 0 ? [`  on ${events.map((event) => printable(event)).join(', ')}`] : []),
    ...failures.map((failure) => `  refused: ${printable(failure)}`),
    ...(Object.keys(use.denied).length > 0 ? [`  tried without having it: ${countsText(use.denied)}`] : []),
  ].join('\n');
}

function countsText(counts: PermissionUse['used']): string {
  const entries = Object.entries(counts);
  return entries.length === 0 ? 'nothing' : entries.map(([key, count]) => `${key} ${count}`).join(', ');
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
