import { isRecord } from '../../../shared/json.ts';
import { utf8Length } from '../../../shared/json-copy.ts';
import type { Limits } from '../../../shared/limits.ts';
import type { ClientPort, ServerInfo } from '../connection/client/client-port.ts';
import type { Catalog, SkippedEntry } from './catalog.ts';
import { type ListedTool, readTool } from './read-tool.ts';
import { exposedNames } from './tool-names.ts';

const MAX_PAGES = 100;
const MAX_TOOLS = 2000;
/** Entries that are named one by one; the rest is counted. */
const MAX_SKIPPED = 100;
const MAX_SHOWN_NAME = 120;
/** The host's cache takes 16 MiB for one catalogue. */
const MAX_CATALOG_BYTES = 15 * 1024 * 1024;

export interface ListingOptions {
  readonly server: string;
  readonly toolPrefix: string;
  readonly limits: Pick<Limits, 'jsonDepth' | 'toolBytes' | 'toolTableBytes'>;
}

/**
 * Reads a server's whole list of tools, page by page and entry by entry, and makes it a catalogue. One bad entry costs that
 * entry, never the list. A server that announced no tools has an empty catalogue.
 */
export async function listTools(
  port: Pick<ClientPort, 'listTools'>,
  info: ServerInfo,
  options: ListingOptions,
): Promise<Catalog> {
  const listing = new Listing(options);
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const answer = await port.listTools(cursor);
    if (answer === undefined) break;
    listing.add(answer.tools);
    // `null` is the end as well, whatever the type says: servers send it.
    const next: unknown = answer.nextCursor;
    if (typeof next !== 'string' || next === '' || listing.full) break;
    if (seen.has(next)) {
      listing.note('the list was read up to a page whose cursor came twice');
      break;
    }
    if (page === MAX_PAGES) {
      listing.note(`the list goes on after ${MAX_PAGES} pages; what follows was not read`);
      break;
    }
    seen.add(next);
    cursor = next;
  }
  return listing.catalog(info);
}

/** The entries of a list, as they come. */
class Listing {
  readonly #options: ListingOptions;
  readonly #tools = new Map<string, ListedTool>();
  readonly #skipped: SkippedEntry[] = [];
  #unnamedSkips = 0;
  #bytes = 0;
  full = false;

  constructor(options: ListingOptions) {
    this.#options = options;
  }

  add(entries: readonly unknown[]): void {
    for (const entry of entries) {
      if (this.#tools.size === MAX_TOOLS) {
        this.full = true;
        this.note(`the list was cut after ${MAX_TOOLS} tools`);
        return;
      }
      const reason = this.#refuse(entry);
      if (reason !== undefined) this.#skip(nameOf(entry), reason);
    }
  }

  note(reason: string): void {
    this.#skipped.push({ name: '', reason });
  }

  /** Why the entry cannot be used, or undefined: then it is in. */
  #refuse(entry: unknown): string | undefined {
    const { toolBytes, toolTableBytes } = this.#options.limits;
    const read = readTool(entry, this.#options.limits);
    if (!read.ok) return read.reason;
    const { tool } = read;
    if (this.#tools.has(tool.mcpName)) return 'the server lists this name twice; the first one is offered';
    const bytes = utf8Length(JSON.stringify(tool));
    if (bytes > toolBytes) return `it is larger than ${toolBytes} bytes`;
    const maxBytes = Math.min(toolTableBytes, MAX_CATALOG_BYTES);
    if (this.#bytes + bytes > maxBytes) return `the tools before it fill the ${maxBytes} bytes there are`;
    this.#bytes += bytes;
    this.#tools.set(tool.mcpName, tool);
    return undefined;
  }

  #skip(name: string, reason: string): void {
    if (this.#skipped.length < MAX_SKIPPED) this.#skipped.push({ name: name.slice(0, MAX_SHOWN_NAME), reason });
    else this.#unnamedSkips += 1;
  }

  catalog(info: ServerInfo): Catalog {
    if (this.#unnamedSkips > 0) this.note(`${this.#unnamedSkips} more entries could not be used`);
    const tools = [...this.#tools.values()];
    const names = exposedNames(
      this.#options.toolPrefix,
      tools.map((tool) => tool.mcpName),
    );
    const { name, version, protocolVersion } = info;
    return {
      server: this.#options.server,
      info: { ...(name === undefined ? {} : { name }), ...(version === undefined ? {} : { version }) },
      ...(protocolVersion === undefined ? {} : { protocolVersion }),
      tools: tools.map((tool, i) => ({ ...tool, exposedName: names[i] ?? tool.mcpName })),
      skipped: this.#skipped,
    };
  }
}

function nameOf(entry: unknown): string {
  return isRecord(entry) && typeof entry['name'] === 'string' ? entry['name'] : '';
}
