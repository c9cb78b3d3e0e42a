import type { JsonObject } from '../../shared/json.ts';
import type { ToolAnnotations, ToolDescriptor } from '../../shared/tool.ts';

/** Something a workflow node can do: one tool of one connection. Plain data. */
export interface Capability {
  /** `<connectionId>.<tool>`; both halves may hold dots, so compare whole names. */
  readonly name: string;
  /** The server's name in the configuration; for a tool that no server is behind, the extension's id. An account is a server of its own. */
  readonly connectionId: string;
  /** The tool's name at the server, without the prefix a model sees. */
  readonly tool: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  /** True when what it does depends on earlier calls of its connection: every server that is not `parallel`. */
  readonly stateful: boolean;
}

/** What a session can do, in the order of its tools. */
export type WorkflowCatalog = readonly Capability[];

/** The connection and the name under which workflows find a tool. */
export function connectionOf({ name, source }: ToolDescriptor): {
  readonly connectionId: string;
  readonly tool: string;
} {
  return { connectionId: source.server ?? source.extension, tool: source.tool ?? name };
}

export function isStateful({ executionMode }: ToolDescriptor): boolean {
  return executionMode === 'sequential';
}

/** The capabilities behind tools; the first of a name has it. */
export function catalogOf(tools: readonly ToolDescriptor[]): WorkflowCatalog {
  const byName = new Map<string, Capability>();
  for (const descriptor of tools) {
    const { description, parameters, outputSchema, annotations } = descriptor;
    const { connectionId, tool } = connectionOf(descriptor);
    const name = `${connectionId}.${tool}`;
    if (byName.has(name)) continue;
    byName.set(
      name,
      Object.freeze({
        name,
        connectionId,
        tool,
        description,
        inputSchema: parameters,
        ...(outputSchema === undefined ? {} : { outputSchema }),
        ...(annotations === undefined ? {} : { annotations }),
        stateful: isStateful(descriptor),
      }),
    );
  }
  return Object.freeze([...byName.values()]);
}
