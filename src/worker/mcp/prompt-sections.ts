import type { ServerConfig } from '../../shared/mcp-options.ts';

/** A server as its prompt section needs it. */
export interface PromptServer {
  readonly config: Pick<ServerConfig, 'name' | 'promptSection'>;
  /** The names under which its tools are registered. */
  readonly toolNames: readonly string[];
}

/** The sections of the servers that have one and at least one active tool, under the servers' names. */
export function promptSections(
  servers: readonly PromptServer[],
  activeTools: readonly string[],
): Record<string, string> {
  const active = new Set(activeTools);
  const sections = servers.flatMap(({ config: { name, promptSection }, toolNames }) =>
    promptSection !== null && toolNames.some((tool) => active.has(tool)) ? [[name, promptSection] as const] : [],
  );
  return Object.fromEntries(sections);
}
