import type { JsonObject } from '../../shared/json.ts';
import type { ToolTable } from '../../shared/protocol.ts';
import type { ToolAnnotations, ToolDescriptor } from '../../shared/tool.ts';

const UNUSED_KEPT = 8;

export type DescriptorTable = readonly ToolDescriptor[];

/**
 * The tool tables of one extension by digest: checked, redacted and frozen once, shared by every session. A hundred chats
 * with the same two hundred tools hold one copy.
 */
export class ToolTableStore {
  readonly #extension: string;
  readonly #redact: (value: unknown) => unknown;
  readonly #tables = new Map<string, { readonly table: DescriptorTable; users: number }>();

  constructor(extension: string, redact: (value: unknown) => unknown) {
    this.#extension = extension;
    this.#redact = redact;
  }

  /** The table of a digest, for one more user; `undefined` when it has to be asked for. */
  acquire(digest: string): DescriptorTable | undefined {
    const entry = this.#tables.get(digest);
    if (!entry) return undefined;
    entry.users += 1;
    // Most recently used last.
    this.#tables.delete(digest);
    this.#tables.set(digest, entry);
    return entry.table;
  }

  /** Takes a table that was asked for, with its first user. */
  add(digest: string, wire: ToolTable): DescriptorTable {
    const known = this.acquire(digest);
    if (known) return known;
    const table = deepFreeze(wire.map((tool) => this.#describe(tool)));
    this.#tables.set(digest, { table, users: 1 });
    return table;
  }

  release(digest: string): void {
    const entry = this.#tables.get(digest);
    if (!entry) return;
    entry.users -= 1;
    const unused = [...this.#tables].filter(([, { users }]) => users <= 0);
    for (const [old] of unused.slice(0, Math.max(0, unused.length - UNUSED_KEPT))) this.#tables.delete(old);
  }

  #describe(wire: ToolTable[number]): ToolDescriptor {
    const { name, executionMode, source } = wire;
    const { description, parameters, outputSchema, annotations, promptSnippet } = this.#redact({
      description: wire.description,
      parameters: wire.parameters,
      outputSchema: wire.outputSchema,
      annotations: wire.annotations,
      promptSnippet: wire.promptSnippet,
    }) as {
      description: string;
      parameters: JsonObject;
      outputSchema?: JsonObject;
      annotations?: ToolAnnotations;
      promptSnippet?: string;
    };
    return {
      name,
      description,
      parameters,
      executionMode,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(promptSnippet === undefined ? {} : { promptSnippet }),
      source: { kind: 'extension', extension: this.#extension, ...(source ?? {}) },
    };
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
