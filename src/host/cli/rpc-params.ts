import * as z from 'zod';
import { isRecord, type JsonObject } from '../../shared/json.ts';
import { nearestName } from '../../shared/nearest-name.ts';
import type { ToolCall } from '../../shared/tool.ts';
import type { Deployment } from '../workflow/index.ts';
import { RPC_CODES, RpcError } from './json-rpc-error.ts';

const Id = z.string().min(1);
/** Checked by hand: zod's own record type would copy it and drop an own `__proto__`. */
const Arguments = z.custom<JsonObject>(isRecord, 'must be an object');
/** Only what tells that it is a call; the host judges the rest, so that a bad entry fails alone. */
const Call = z.custom<ToolCall>(
  (value) => isRecord(value) && typeof value['name'] === 'string',
  'must be { name, arguments? }',
);

/** `params` of every request. */
export const PARAMS = {
  nothing: z.strictObject({}),
  sessionOpen: z.strictObject({
    sessionId: Id,
    cwd: z.exactOptional(Id),
    timeZone: z.exactOptional(z.string()),
    activeTools: z.exactOptional(z.array(z.string())),
    ui: z.exactOptional(z.boolean()),
    sampling: z.exactOptional(z.boolean()),
  }),
  session: z.strictObject({ sessionId: Id }),
  sessionPrompt: z.strictObject({ sessionId: Id, prompt: z.exactOptional(z.string()) }),
  sessionRestart: z.strictObject({ sessionId: Id, reason: z.enum(['new', 'resume', 'fork']) }),
  sessionClose: z.strictObject({ sessionId: Id, reason: z.exactOptional(z.enum(['quit', 'reload'])) }),
  toolCall: z.strictObject({
    sessionId: Id,
    name: z.string(),
    arguments: z.exactOptional(Arguments),
    timeoutMs: z.exactOptional(z.number().nonnegative()),
  }),
  toolCallBatch: z.strictObject({ sessionId: Id, calls: z.array(Call) }),
  commandRun: z.strictObject({ sessionId: Id, name: z.string(), args: z.exactOptional(z.string()) }),
  extensionReload: z.strictObject({ path: Id }),
  workflowRefresh: z.strictObject({ connectionId: Id }),
  workflowCall: z.strictObject({ sessionId: Id, name: z.string(), input: z.exactOptional(Arguments) }),
  workflowRun: z.strictObject({
    id: z.exactOptional(Id),
    deployment: z.exactOptional(z.custom<Deployment>(isRecord, 'must be an object')),
    input: z.exactOptional(Arguments),
    runId: z.exactOptional(Id),
    resume: z.exactOptional(z.boolean()),
    cwd: z.exactOptional(Id),
  }),
} as const;

/** Checks the `params` of a request. @throws RpcError -32602 that names each bad field */
export function readParams<T>(method: string, schema: z.ZodObject & z.ZodType<T>, params: unknown): T {
  const parsed = schema.safeParse(params ?? {});
  if (parsed.success) return parsed.data;
  const known = Object.keys(schema.shape);
  const problems = parsed.error.issues.flatMap((issue) => problemsOf(issue, known));
  throw invalidParams(method, problems.join('; '));
}

export function invalidParams(method: string, problem: string): RpcError {
  return new RpcError(RPC_CODES.invalidParams, `bad params of ${method}: ${problem}`, { code: 'INVALID_ARGUMENT' });
}

function problemsOf(issue: z.core.$ZodIssue, known: readonly string[]): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${key}: ${unknownField(key, known)}`);
  const path = issue.path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .slice(1);
  const said = issue.message.replace(/^Invalid (input|option): /, '');
  return [path === '' ? said : `${path}: ${said}`];
}

function unknownField(key: string, known: readonly string[]): string {
  const nearest = nearestName(key, known);
  return nearest === undefined
    ? 'there is no such field; this request has none'
    : `there is no such field; did you mean "${nearest}"?`;
}
