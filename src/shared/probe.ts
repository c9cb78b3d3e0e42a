import * as z from 'zod';
import type { Limits } from './limits.ts';
import { type PermissionUse, PermissionUseSchema, type SandboxBoot } from './sandbox.ts';

/** What the task of a probe is given: no permissions are in its boot. */
export interface ProbeTask {
  readonly boot: SandboxBoot;
  readonly limits: Limits;
}

/** What an extension would register, found out in the sandbox without any permission. */
export interface ProbeReport {
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly events: readonly string[];
  /** What of it could not be registered. */
  readonly failures: readonly string[];
  /** What it tried without having it. */
  readonly use: PermissionUse;
}

const Named = z.array(z.object({ name: z.string(), description: z.string() }));

export const ProbeReportSchema: z.ZodType<ProbeReport> = z.object({
  tools: Named,
  commands: Named,
  events: z.array(z.string()),
  failures: z.array(z.string()),
  use: PermissionUseSchema,
});
