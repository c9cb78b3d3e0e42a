import { createHash } from 'node:crypto';
import { ExtensionHostError } from '../shared/errors.ts';
import type { ToolDefinition } from '../shared/extension-api.ts';
import { isRecord, type JsonObject } from '../shared/json.ts';
import { copyJson } from '../shared/json-copy.ts';
import type { Limits } from '../shared/limits.ts';
import type { ToolTable, WireTool } from '../shared/protocol.ts';
import type { Failure } from '../shared/tool.ts';

const EXECUTION_MODES: readonly unknown[] = [undefined, 'sequential', 'parallel'];

interface RegisteredTool {
  readonly wire: WireTool;
  readonly bytes: number;
  readonly execute: ToolDefinition['execute'];
}

/**
 * The tools one instance has registered, each checked and copied when it comes: what its author changes afterwards does not
 * cross. A tool over a limit is quarantined: refused with a reason, while the others stay.
 */
export class ToolTableBuilder {
  readonly #limits: Limits;
  readonly #tools = new Map<string, RegisteredTool>();
  #bytes = 0;
  #cached: { readonly digest: string; readonly table: ToolTable } | undefined;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** `undefined` when the tool is in, else why it is not. @throws INVALID_ARGUMENT when it is no tool at all */
  add(definition: ToolDefinition): Omit<Failure, 'extension'> | undefined {
    const { name } = definition;
    if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
      throw new ExtensionHostError(
        'INVALID_ARGUMENT',
        `a tool's name must match [A-Za-z0-9_-]{1,64}, not ${JSON.stringify(name)}`,
      );
    }
    if (typeof definition.execute !== 'function') {
      throw new ExtensionHostError('INVALID_ARGUMENT', `tool ${name} has no execute function`);
    }
    if (this.#tools.has(name)) {
      return { tool: name, code: 'NAME_TAKEN', message: `tool ${name} is registered already; the first one stays` };
    }
    const { toolsPerExtension, toolTableBytes } = this.#limits;
    if (this.#tools.size >= toolsPerExtension) {
      return {
        tool: name,
        code: 'TOOL_QUARANTINED',
        message: `tool ${name} is one more than the limit of ${toolsPerExtension} tools`,
      };
    }
    const wire = toWireTool(definition, this.#limits);
    if (typeof wire === 'string')
      return { tool: name, code: 'TOOL_QUARANTINED', message: `tool ${name} is left out: ${wire}` };
    if (this.#bytes + wire.bytes > toolTableBytes) {
      return {
        tool: name,
        code: 'TOOL_QUARANTINED',
        message: `tool ${name} is left out: all tools together are over ${toolTableBytes} bytes`,
      };
    }
    this.#tools.set(name, { ...wire, execute: definition.execute.bind(definition) });
    this.#bytes += wire.bytes;
    this.#cached = undefined;
    return undefined;
  }

  remove(name: string): void {
    const tool = this.#tools.get(name);
    if (!tool) return;
    this.#tools.delete(name);
    this.#bytes -= tool.bytes;
    this.#cached = undefined;
  }

  get(name: string): RegisteredTool | undefined {
    return this.#tools.get(name);
  }

  get wireTools(): readonly WireTool[] {
    return [...this.#tools.values()].map((tool) => tool.wire);
  }

  /** The table and the digest the host knows it by. */
  snapshot(): { readonly digest: string; readonly table: ToolTable } {
    this.#cached ??= this.#compute();
    return this.#cached;
  }

  #compute(): { readonly digest: string; readonly table: ToolTable } {
    const table = this.wireTools;
    return { table, digest: createHash('sha256').update(JSON.stringify(table)).digest('base64url') };
  }
}

function toWireTool(definition: ToolDefinition, limits: Limits): { wire: WireTool; bytes: number } | string {
  const { name, description, executionMode, promptSnippet, source } = definition;
  if (!EXECUTION_MODES.includes(executionMode)) {
    return "its executionMode must be 'sequential' or 'parallel'";
  }
  const parameters = copySchema(definition.parameters, limits);
  if (typeof parameters === 'string') return `its parameters are unusable: ${parameters}`;
  if (parameters['type'] !== 'object') return 'its parameters must be a JSON Schema of type "object"';
  const outputSchema = definition.outputSchema === undefined ? undefined : copySchema(definition.outputSchema, limits);
  if (typeof outputSchema === 'string') return `its outputSchema is unusable: ${outputSchema}`;
  const annotations = definition.annotations === undefined ? undefined : copySchema(definition.annotations, limits);
  if (typeof annotations === 'string') return `its annotations are unusable: ${annotations}`;
  const text = typeof description === 'string' ? description.toWellFormed() : '';
  if (Buffer.byteLength(text) > limits.descriptionBytes)
    return `its description is over ${limits.descriptionBytes} bytes`;
  const wire: WireTool = {
    name,
    description: text,
    parameters,
    executionMode: executionMode ?? 'parallel',
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(typeof promptSnippet === 'string' ? { promptSnippet } : {}),
    ...(isRecord(source) ? { source: { server: String(source.server), tool: String(source.tool) } } : {}),
  };
  const bytes = Buffer.byteLength(JSON.stringify(wire));
  return bytes > limits.toolBytes ? `it is over ${limits.toolBytes} bytes` : { wire, bytes };
}

function copySchema(value: unknown, limits: Limits): JsonObject | string {
  if (!isRecord(value)) return 'no object';
  const copied = copyJson(value, { maxDepth: limits.jsonDepth, maxBytes: limits.toolBytes });
  if (!copied.ok) return copied.reason;
  return isRecord(copied.value) ? (copied.value as JsonObject) : 'no object';
}
