import type { JsonObject } from '../../../shared/json.ts';
import type { ToolAnnotations } from '../../../shared/tool.ts';

/** What one server offers, as every session of the host sees it. Plain JSON: it crosses to the host's cache and back. */
export interface Catalog {
  /** The server's name in the configuration. */
  readonly server: string;
  /** As the server called itself. */
  readonly info: { readonly name?: string; readonly version?: string };
  readonly protocolVersion?: string;
  /** In the server's order. */
  readonly tools: readonly CatalogTool[];
  /** What could not be taken over. */
  readonly skipped: readonly SkippedEntry[];
}

export interface CatalogTool {
  /** The name calls go by. */
  readonly mcpName: string;
  /** The name a model sees: `[A-Za-z0-9_-]{1,48}`, unique within its server. */
  readonly exposedName: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
}

/** `name` is empty when the reason concerns the whole list. */
export interface SkippedEntry {
  readonly name: string;
  readonly reason: string;
}
