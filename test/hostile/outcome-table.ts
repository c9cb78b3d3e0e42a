import { CASES } from './cases.ts';

/** The table of docs/security.md. Every row is a test of this folder; a red one means that the page would lie. */
export function outcomeTable(): string {
  const rows = CASES.map(({ group, name, trusted, sandboxed }) => `| ${group} | ${name} | ${trusted} | ${sandboxed} |`);
  return ['| group | an extension that … | trusted | sandboxed |', '|---|---|---|---|', ...rows].join('\n');
}
