/** The worker's files by URL: the host never imports them. From source they are `.ts`, from the package `.js`. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

export const WORKER_ENTRY = new URL(`../../worker/entry.${EXTENSION}`, import.meta.url);

/** The built-in MCP extension. */
export const MCP_EXTENSION = new URL(`../../worker/mcp/extension.${EXTENSION}`, import.meta.url);

/** The task of a probe; it runs in a pool of its own, never in a thread of the host. */
export const PROBE_TASK = new URL(`../../worker/probe-task.${EXTENSION}`, import.meta.url);
