/**
 * Caldera's public face: the host of extensions that live in worker threads. Importing it loads no MCP SDK and starts
 * nothing.
 */

export { ERROR_CODES, type ErrorCode, ExtensionHostError } from '../shared/errors.ts';
export type { CloseReason, RestartReason } from '../shared/events.ts';
export type { JsonObject, JsonValue } from '../shared/json.ts';
export { DEFAULT_LIMITS, type Limits } from '../shared/limits.ts';
export type { McpOptions, McpServerOptions } from '../shared/mcp-options.ts';
export type { PermissionKey, Permissions, PermissionUse, Tier, UseKey } from '../shared/sandbox.ts';
export type {
  CallOutcome,
  Content,
  ExecutionMode,
  Failure,
  Progress,
  ToolAnnotations,
  ToolCall,
  ToolDescriptor,
  ToolResult,
  ToolResultDetails,
  ToolSource,
} from '../shared/tool.ts';
export { closeOnSignals } from './close-on-signals.ts';
export { ExtensionHost } from './extension-host.ts';
export { mcpExtension } from './mcp-extension.ts';
export type {
  Approval,
  Approve,
  BuiltinResult,
  BuiltinTool,
  CallOptions,
  CommandInfo,
  ExtensionEntry,
  ExtensionHostOptions,
  ExtensionState,
  HostEvents,
  HostInspection,
  LogRecord,
  OnSampling,
  QuestionContext,
  SessionEvents,
  SessionOptions,
  SessionUi,
  SpawnChange,
  SpawnPolicyOptions,
  SpawnRequest,
  UiQuestionContext,
} from './options.ts';
export type { Ceiling } from './policy/grants.ts';
export { Session } from './session.ts';
