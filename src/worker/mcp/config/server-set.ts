import type { JsonObject } from '../../../shared/json.ts';
import {
  type BadEntry,
  type McpConfig,
  parseSettingsServers,
  presetIsReplaced,
  type ServerConfig,
} from '../../../shared/mcp-options.ts';
import { PLAYWRIGHT_SERVER } from '../../../shared/playwright-preset.ts';

/** Every server of a session, from all sources. */
export interface ServerSet {
  /** In registration order: the options' servers by name, the preset, then settings.json in the file's order. */
  readonly servers: readonly ServerConfig[];
  /** Entries of settings.json that cannot be used; their names are no server's. */
  readonly bad: readonly BadEntry[];
  /** True when the disabled preset is to be named as such. */
  readonly presetIsOff: boolean;
  /** For the log: sources that lost their name to an earlier one. */
  readonly notes: readonly string[];
}

/** Puts the sources together. The first one that has a name keeps it; names compare ordinally. */
export function serverSet(config: McpConfig, settings: JsonObject): ServerSet {
  const servers = new Map(config.servers.map((server) => [server.name, server]));
  const notes: string[] = [];
  if (presetIsReplaced(config)) {
    notes.push(`the Playwright preset is left out: a server of the options is named ${PLAYWRIGHT_SERVER}`);
  }
  const read = parseSettingsServers(settings);
  for (const server of read.servers) {
    if (servers.has(server.name))
      notes.push(`server ${server.name} of settings.json is left out: the options have one of that name`);
    else servers.set(server.name, server);
  }
  return {
    servers: [...servers.values()],
    bad: read.bad.filter(({ name }) => !servers.has(name)),
    presetIsOff: !config.playwright.enabled && !servers.has(PLAYWRIGHT_SERVER),
    notes,
  };
}
