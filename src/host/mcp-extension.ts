import { fileURLToPath } from 'node:url';
import { ExtensionHostError } from '../shared/errors.ts';
import { isRecord, type JsonObject } from '../shared/json.ts';
import { copyJson } from '../shared/json-copy.ts';
import { applyEnvironment } from '../shared/mcp-environment.ts';
import { type McpOptions, mentionedVariables, parseMcpOptions } from '../shared/mcp-options.ts';
import type { ExtensionEntry } from './options.ts';
import { MCP_EXTENSION } from './thread/worker-entry.ts';

/**
 * The built-in MCP extension as an entry of `extensions`. It loads no SDK here, and grants the extension the host variables
 * that the options mention as `${env:NAME}`, no others. PLAYWRIGHT_* variables fill in what `playwright` leaves open, unless
 * `environment` is false.
 * @throws CONFIG_INVALID with every problem listed, in the message and in `data.problems`
 */
export function mcpExtension(options: McpOptions = {}): ExtensionEntry {
  const applied = withEnvironment(options);
  const problems = [...parseMcpOptions(applied.options).problems, ...applied.problems];
  if (problems.length > 0) {
    throw new ExtensionHostError('CONFIG_INVALID', `the MCP options are not valid:\n- ${problems.join('\n- ')}`, {
      data: { problems },
    });
  }
  const copied = copyJson(applied.options, { maxDepth: 32, maxBytes: 16 * 1024 * 1024 });
  if (!copied.ok) throw new ExtensionHostError('CONFIG_INVALID', `the MCP options are no JSON: ${copied.reason}`);
  return { path: fileURLToPath(MCP_EXTENSION), options: copied.value as JsonObject, env: mentionedVariables(options) };
}

/** Applied here, it is not applied once more in the thread, whose environment is another one. */
function withEnvironment(options: McpOptions): ReturnType<typeof applyEnvironment> {
  const environment: unknown = isRecord(options) ? options['environment'] : false;
  // Something else than true or false is a problem that the check of the options names.
  if (environment !== undefined && environment !== true) return { options, problems: [] };
  const applied = applyEnvironment(options, (name) => process.env[name]);
  return { ...applied, options: { ...applied.options, environment: false } };
}
