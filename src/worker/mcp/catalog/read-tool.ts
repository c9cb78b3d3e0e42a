import { isRecord, type JsonObject, setOwn } from '../../../shared/json.ts';
import { copyJson } from '../../../shared/json-copy.ts';
import type { Limits } from '../../../shared/limits.ts';
import type { ToolAnnotations } from '../../../shared/tool.ts';
import type { CatalogTool } from './catalog.ts';

/** A listed tool that can be offered, still without its exposed name. */
export type ListedTool = Omit<CatalogTool, 'exposedName'>;

export type ReadTool =
  | { readonly ok: true; readonly tool: ListedTool }
  | { readonly ok: false; readonly reason: string };

/** The host's cache carries 64 levels, and a schema lies three levels deep: catalogue, list of tools, tool. */
const MAX_SCHEMA_LEVELS = 64 - 3;

/**
 * Reads one entry of `tools/list`. Only a missing name, or what cannot be carried at all, makes it unusable; a bad description,
 * output schema or hint loses that part alone. Schemas stay as they are, but for a top-level `$schema`.
 */
export function readTool(entry: unknown, limits: Pick<Limits, 'jsonDepth' | 'toolBytes'>): ReadTool {
  if (!isRecord(entry)) return unusable('the entry is no object');
  const { name } = entry;
  if (typeof name !== 'string') return unusable('the tool has no name');
  const bounds = { maxDepth: Math.min(limits.jsonDepth, MAX_SCHEMA_LEVELS), maxBytes: limits.toolBytes };
  const parameters = copyJson(parametersOf(entry['inputSchema']), bounds);
  if (!parameters.ok) return unusable(`its input schema cannot be passed on: ${parameters.reason}`);
  const annotations = annotationsOf(entry['annotations']);
  const description = descriptionOf(entry['description'], annotations, name);
  const outputSchema = isRecord(entry['outputSchema']) ? copyJson(entry['outputSchema'], bounds) : undefined;
  return {
    ok: true,
    tool: {
      mcpName: name,
      description,
      parameters: parameters.value as JsonObject,
      ...(outputSchema?.ok === true ? { outputSchema: outputSchema.value as JsonObject } : {}),
      ...(annotations === undefined ? {} : { annotations }),
    },
  };
}

function unusable(reason: string): ReadTool {
  return { ok: false, reason };
}

/** A model is never left without a word about a tool. */
function descriptionOf(given: unknown, annotations: ToolAnnotations | undefined, name: string): string {
  const texts = [given, annotations?.title];
  const text = texts.find((candidate) => typeof candidate === 'string' && candidate.trim() !== '');
  return typeof text === 'string' ? text : name;
}

/**
 * Arguments are always an object. A schema that says something else is none for arguments; one that names no type, or lists
 * `object` among others, means it and is made to say so.
 */
function parametersOf(schema: unknown): unknown {
  if (!isRecord(schema)) return { type: 'object' };
  const { type } = schema;
  if (type === 'object' && !Object.hasOwn(schema, '$schema')) return schema;
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object')))
    return { type: 'object' };
  const parameters = {};
  if (type === undefined) setOwn(parameters, 'type', 'object');
  for (const key of Object.keys(schema)) {
    if (key !== '$schema') setOwn(parameters, key, key === 'type' ? 'object' : schema[key]);
  }
  return parameters;
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

function annotationsOf(given: unknown): ToolAnnotations | undefined {
  if (!isRecord(given)) return undefined;
  const title = given['title'];
  const kept: [string, string | boolean][] = typeof title === 'string' ? [['title', title]] : [];
  for (const hint of HINTS) {
    const value = given[hint];
    if (typeof value === 'boolean') kept.push([hint, value]);
  }
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
