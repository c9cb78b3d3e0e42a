import { isRecord } from './json.ts';
import type { McpOptions } from './mcp-options.ts';
import type { PlaywrightOptions } from './playwright-preset.ts';
import { shellWords } from './shell-words.ts';

/** Reads one variable of the environment. */
export type GetEnv = (name: string) => string | undefined;

const YES: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on']);
const NO: ReadonlySet<string> = new Set(['false', '0', 'no', 'off']);

/** The variables of the Playwright preset and the options they fill in. */
export const PLAYWRIGHT_VARIABLES = {
  PLAYWRIGHT_ENABLED: 'enabled',
  PLAYWRIGHT_HEADLESS: 'headless',
  PLAYWRIGHT_BROWSER: 'browser',
  PLAYWRIGHT_EXTRA_ARGS: 'extraArgs',
  PLAYWRIGHT_COMMAND: 'command',
  PLAYWRIGHT_EXECUTABLE_PATH: 'executablePath',
} as const satisfies Readonly<Record<string, keyof PlaywrightOptions>>;

/**
 * Fills in what the options leave open from PLAYWRIGHT_* variables. What the options say wins, an explicit `enabled: false`
 * too; an empty variable counts as unset. A value that cannot be read is a problem and is left out. Never throws.
 */
export function applyEnvironment(
  options: McpOptions,
  getEnv: GetEnv,
): { readonly options: McpOptions; readonly problems: readonly string[] } {
  const written: unknown = options.playwright ?? {};
  // Something else than an object is a problem that the options' own check names.
  if (!isRecord(written)) return { options, problems: [] };
  const problems: string[] = [];
  const filled: Record<string, unknown> = {};
  for (const [variable, key] of Object.entries(PLAYWRIGHT_VARIABLES)) {
    const text = getEnv(variable)?.trim();
    if (text === undefined || text === '' || isSet(written, key)) continue;
    const value = readVariable(key, text);
    if (value === undefined) problems.push(`${variable}: ${expected(key)}`);
    else filled[key] = value;
  }
  if (Object.keys(filled).length === 0) return { options, problems };
  return { options: { ...options, playwright: { ...written, ...filled } }, problems };
}

/** A `null` says no more than a key that is left out. */
function isSet(written: Readonly<Record<string, unknown>>, key: string): boolean {
  return written[key] !== undefined && written[key] !== null;
}

function readVariable(key: keyof PlaywrightOptions, text: string): unknown {
  if (key === 'extraArgs') return shellWords(text);
  if (key !== 'enabled' && key !== 'headless') return text;
  const word = text.toLowerCase();
  if (YES.has(word)) return true;
  return NO.has(word) ? false : undefined;
}

function expected(key: keyof PlaywrightOptions): string {
  return key === 'extraArgs' ? 'a quote in it is left open' : 'must be true or false';
}
