import { resolve } from 'node:path';
import type { ServerConfig } from '../../../shared/mcp-options.ts';

/** What of a server's entry may hold placeholders. */
export type PlaceholderSource = Pick<ServerConfig, 'command' | 'args' | 'cwd' | 'env'>;

/** An entry as it is handed to the spawn: no placeholder is left that means anything. */
export interface ExpandedServer {
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | null>>;
}

/** `${workspace}` or `${env:NAME}`; one pass, so that nothing an expansion brought in is expanded again. */
const PLACEHOLDER = /\$\{(?:workspace|env:([^}]+))\}/g;

/**
 * Expands `${workspace}` in command, args, cwd and env values, and `${env:NAME}` in env values only (unset → empty).
 * `cwd: null` is the workspace; a relative one is taken from it.
 * @param workspace - Absolute: the session's cwd, or a temp folder during discovery.
 * @param readEnv - Asked once per name.
 */
export async function expandPlaceholders(
  source: PlaceholderSource,
  workspace: string,
  readEnv: (name: string) => Promise<string | undefined>,
): Promise<ExpandedServer> {
  const names = mentionedEnvNames(source);
  const values = new Map(await Promise.all(names.map(async (name) => [name, (await readEnv(name)) ?? ''] as const)));
  const inside = (text: string) => expand(text, workspace, undefined);
  const env = Object.entries(source.env).map(
    ([name, value]) => [name, value === null ? null : expand(value, workspace, values)] as const,
  );
  return {
    command: inside(source.command),
    args: source.args.map(inside),
    cwd: source.cwd === null ? workspace : resolve(workspace, inside(source.cwd)),
    env: Object.fromEntries(env),
  };
}

/** The host variables an entry's env values ask for, each once, in order of appearance. */
export function mentionedEnvNames({ env }: Pick<ServerConfig, 'env'>): readonly string[] {
  const names = new Set<string>();
  for (const value of Object.values(env)) {
    for (const [, name] of value?.matchAll(PLACEHOLDER) ?? []) if (name !== undefined) names.add(name);
  }
  return [...names];
}

function expand(text: string, workspace: string, values: ReadonlyMap<string, string> | undefined): string {
  // A function, not a replacement string: a path or a secret may hold `$&`.
  return text.replace(PLACEHOLDER, (whole: string, name: string | undefined) => {
    if (name === undefined) return workspace;
    return values === undefined ? whole : (values.get(name) ?? '');
  });
}
