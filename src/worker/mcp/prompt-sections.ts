import type { ServerConfig } from '../../shared/mcp-options.ts';
import { BROWSER_FOLDER } from '../../shared/playwright-preset.ts';

/** A server as its prompt section needs it. */
export interface PromptServer {
  readonly config: Pick<ServerConfig, 'name' | 'promptSection' | 'preset'>;
  /** The names under which its tools are registered. */
  readonly toolNames: readonly string[];
}

/** The preset's key; other servers have their own names. */
const BROWSER_KEY = 'browser';
/** The host's tool that gives a file to the person, where there is one. */
const SEND_TOOL = 'send';

/** The sections of the servers that have one and at least one active tool, under the servers' names. */
export function promptSections(
  servers: readonly PromptServer[],
  activeTools: readonly string[],
): Record<string, string> {
  const active = new Set(activeTools);
  const sections = servers.flatMap(({ config: { name, promptSection, preset }, toolNames }) => {
    if (!toolNames.some((tool) => active.has(tool))) return [];
    if (preset === 'playwright') return [[BROWSER_KEY, browserSection(active.has(SEND_TOOL))] as const];
    return promptSection === null ? [] : [[name, promptSection] as const];
  });
  return Object.fromEntries(sections);
}

/** What a model does not find in the descriptions of the browser's tools. */
function browserSection(canSend: boolean): string {
  const picture = `\`filename: "${BROWSER_FOLDER}/<name>.png"\``;
  const files = canSend
    ? `To give the user a screenshot, take it with ${picture} (you get no image then) and call \`${SEND_TOOL}\` with that path. PDFs and downloads are under ${BROWSER_FOLDER}/ too.`
    : `Files for the user (screenshots taken with ${picture}, for which you get no image; PDFs; downloads) are under ${BROWSER_FOLDER}/ in the workspace.`;
  return [
    '## Browser',
    '- The browser_* tools drive a real browser. Use browser_snapshot (an accessibility tree with element refs) to read a page and to find what to click, before you take a screenshot. Navigating and clicking answer with a link to a snapshot file, not with the snapshot.',
    '- To look at a page yourself, take a screenshot without `filename`: the image comes back to you.',
    `- ${files}`,
    '- Close the browser (browser_close) when a task is finished. Tabs and what is on a page may be gone after a long pause.',
    '- Enter no passwords and no payment details unless the user asks you to.',
  ].join('\n');
}
