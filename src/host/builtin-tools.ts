import { ExtensionHostError, messageOf } from '../shared/errors.ts';
import type { JsonObject } from '../shared/json.ts';
import type { ToolDescriptor, ToolResult } from '../shared/tool.ts';
import type { BuiltinTool } from './options.ts';
import type { ResultPolicy } from './result-finish.ts';

/** The host program's own tools. They run on the main thread, in the program's trust. */
export class BuiltinTools {
  readonly name = 'the host';
  readonly descriptors: readonly ToolDescriptor[];
  readonly #tools: ReadonlyMap<string, BuiltinTool>;

  /** @throws CONFIG_INVALID for a bad or doubled name */
  constructor(tools: readonly BuiltinTool[]) {
    const byName = new Map<string, BuiltinTool>();
    for (const tool of tools) {
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(tool.name)) {
        throw new ExtensionHostError(
          'CONFIG_INVALID',
          `builtinTools: the name ${JSON.stringify(tool.name)} must match [A-Za-z0-9_-]{1,64}`,
        );
      }
      if (byName.has(tool.name))
        throw new ExtensionHostError('CONFIG_INVALID', `builtinTools: ${tool.name} is there twice`);
      byName.set(tool.name, tool);
    }
    this.#tools = byName;
    this.descriptors = Object.freeze(tools.map(describe));
  }

  /** Runs one. Its text and images are its program's own: redacted, not cut. */
  async call(
    name: string,
    args: JsonObject,
    context: { readonly sessionId: string; readonly signal: AbortSignal },
    results: ResultPolicy,
  ): Promise<ToolResult> {
    const tool = this.#tools.get(name);
    if (!tool) throw new ExtensionHostError('UNKNOWN_TOOL', `there is no built-in tool ${name}`);
    try {
      const returned = await tool.execute(args, context);
      const { content, isError = false } =
        typeof returned === 'string' ? { content: [{ type: 'text' as const, text: returned }] } : returned;
      const images = content.filter((block) => block.type === 'image').length;
      return {
        content: results.redactContent(content),
        isError,
        details: { outcome: 'done', truncated: false, images },
      };
    } catch (error) {
      const content = [{ type: 'text' as const, text: results.redactText(messageOf(error)) }];
      return { content, isError: true, details: { outcome: 'done', truncated: false, images: 0 } };
    }
  }
}

function describe({ name, description, parameters }: BuiltinTool): ToolDescriptor {
  const source = { kind: 'built-in' as const, extension: 'host' };
  return Object.freeze({ name, description, parameters, executionMode: 'parallel', source });
}
