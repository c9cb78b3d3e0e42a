import { styleText } from 'node:util';
import { printable } from '../../shared/printable.ts';
import type { Failure, ToolDescriptor } from '../../shared/tool.ts';

const DESCRIPTION_CHARACTERS = 100;

export interface ToolListLook {
  /** Show each tool's parameters. */
  readonly schema: boolean;
  readonly colour: boolean;
}

/** The tools of a session for people, in groups by where they come from. */
export function toolListText(tools: readonly ToolDescriptor[], { schema, colour }: ToolListLook): string {
  const groups = new Map<string, ToolDescriptor[]>();
  for (const tool of tools) {
    const group = groups.get(originOf(tool)) ?? [];
    groups.set(originOf(tool), [...group, tool]);
  }
  const width = Math.max(...tools.map(({ name }) => name.length));
  return [...groups]
    .map(([origin, members]) => {
      const title = `${printable(origin)} (${members.length})`;
      const lines = members.flatMap((tool) => linesOf(tool, width, schema));
      return [colour ? styleText('bold', title) : title, ...lines.map((line) => `  ${line}`)].join('\n');
    })
    .join('\n\n');
}

/** What a session could not offer, a line each. */
export function failuresText(failures: readonly Failure[]): string {
  const lines = failures.map(({ extension, server, tool, code, message }) => {
    const who = [server ?? extension, tool].filter((part) => part !== undefined).join(' ');
    return `  ${printable(`${who}: ${message}`)} (${code})`;
  });
  return ['Not offered:', ...lines].join('\n');
}

function originOf({ source }: ToolDescriptor): string {
  if (source.server !== undefined) return source.server;
  return source.kind === 'built-in' ? 'built-in' : `extension ${source.extension}`;
}

function linesOf({ name, description, parameters }: ToolDescriptor, width: number, schema: boolean): string[] {
  const [first = ''] = printable(description, { keepNewlines: true }).trim().split('\n');
  const short = first.length > DESCRIPTION_CHARACTERS ? `${first.slice(0, DESCRIPTION_CHARACTERS)}…` : first;
  const line = `${name.padEnd(width)}  ${short}`.trimEnd();
  if (!schema) return [line];
  const shown = printable(JSON.stringify(parameters, null, 2), { keepNewlines: true });
  return [line, ...shown.split('\n').map((text) => `    ${text}`)];
}
