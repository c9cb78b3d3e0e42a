import { ExtensionHostError } from '../shared/errors.ts';
import { isRecord, type JsonObject } from '../shared/json.ts';
import type { HostRequestPayload } from '../shared/protocol.ts';
import { matchesName } from '../shared/sandbox.ts';
import type { ToolResult } from '../shared/tool.ts';
import type { Session } from './session.ts';
import type { ResolvedExtension } from './thread/extension-thread.ts';

/**
 * Calls a tool of an MCP server for a sandboxed extension, in the session that it asks from and like any other call of it.
 * @throws PERMISSION_DENIED for what was not granted, UNKNOWN_TOOL
 */
export async function callGrantedTool(
  { server, tool, arguments: args }: HostRequestPayload<'tool.call'>,
  { id, sandbox }: ResolvedExtension,
  session: Session | undefined,
): Promise<ToolResult> {
  const grant = sandbox?.permissions.mcp;
  if (!session || !grant?.servers.includes(server) || !grant.tools.some((pattern) => matchesName(pattern, tool))) {
    throw new ExtensionHostError('PERMISSION_DENIED', `extension ${id} was not granted the tool ${tool} of ${server}`);
  }
  const found = session.tools.find(({ source }) => source.server === server && source.tool === tool);
  if (!found) throw new ExtensionHostError('UNKNOWN_TOOL', `there is no tool ${tool} of ${server} in this session`);
  if (!isRecord(args)) throw new ExtensionHostError('INVALID_ARGUMENT', 'the arguments of a tool must be an object');
  return session.callTool({ name: found.name, arguments: args as JsonObject });
}
