import type { McpServerOptions } from './mcp-options.ts';
import type { OptionReader } from './option-reader.ts';

/** The server's version, pinned so that an upgrade is a decision; the one source of it. */
export const PLAYWRIGHT_MCP_VERSION = '0.0.83';

/** The name of the server the preset becomes. */
export const PLAYWRIGHT_SERVER = 'playwright';

/** The workspace's folder for screenshots, PDFs and downloads. */
export const BROWSER_FOLDER = 'browser';

const PROFILE_FOLDER = '.caldera/browser-profile';

/** The browser preset as written in a configuration. */
export interface PlaywrightOptions {
  /** Default false. */
  readonly enabled?: boolean;
  /** Default true. */
  readonly headless?: boolean;
  /** Default `chromium`; null is the default. */
  readonly browser?: string | null;
  /** Put behind the preset's own arguments. `--isolated` here keeps no profile. Default none. */
  readonly extraArgs?: readonly string[];
  /** What npx installs; default is the pinned version, null is the default. */
  readonly package?: string | null;
  /** A program to run instead of npx, such as `playwright-mcp`. Default null. */
  readonly command?: string | null;
  /** The browser's own file. Default null: the one that playwright installed. */
  readonly executablePath?: string | null;
}

/** The preset with its defaults filled in. */
export interface PlaywrightConfig {
  readonly enabled: boolean;
  readonly headless: boolean;
  readonly browser: string;
  readonly extraArgs: readonly string[];
  readonly package: string;
  readonly command: string | null;
  readonly executablePath: string | null;
}

const PLAYWRIGHT_KEYS: readonly (keyof PlaywrightOptions)[] = [
  'enabled',
  'headless',
  'browser',
  'extraArgs',
  'package',
  'command',
  'executablePath',
];

/** Checks the preset's options and fills in the defaults; problems go to the reader's list. */
export function readPlaywright(read: OptionReader): PlaywrightConfig {
  read.refuseUnknown(PLAYWRIGHT_KEYS);
  return {
    enabled: read.boolean('enabled', false),
    headless: read.boolean('headless', true),
    browser: read.textOrNull('browser') ?? 'chromium',
    extraArgs: read.texts('extraArgs'),
    package: read.textOrNull('package') ?? `@playwright/mcp@${PLAYWRIGHT_MCP_VERSION}`,
    command: read.textOrNull('command'),
    executablePath: read.textOrNull('executablePath'),
  };
}

/** The server entry that the preset stands for. It adds no `--no-sandbox` of its own. */
export function playwrightServer(preset: PlaywrightConfig): McpServerOptions {
  const { headless, browser, extraArgs, command, executablePath } = preset;
  const profile = extraArgs.includes('--isolated') ? [] : ['--user-data-dir', `\${workspace}/${PROFILE_FOLDER}`];
  return {
    command: command ?? 'npx',
    args: [
      ...(command === null ? ['-y', preset.package] : []),
      ...(headless ? ['--headless'] : []),
      ...['--browser', browser],
      ...['--output-dir', `\${workspace}/${BROWSER_FOLDER}`],
      ...profile,
      ...(executablePath === null ? [] : ['--executable-path', executablePath]),
      ...extraArgs,
    ],
    cwd: `\${workspace}`,
    // The first run of npx downloads the package.
    startupTimeoutSeconds: 120,
    callTimeoutSeconds: 120,
    // Cookies are written late: with the end of stdin alone a fresh login was lost in 8 of 9 stops.
    shutdownTimeoutSeconds: 10,
    stopTool: 'browser_close',
  };
}

/** `enabled (headless, chromium)`: the line of the log at the start, behind `MCP: playwright `. */
export function playwrightState({ enabled, headless, browser }: PlaywrightConfig): string {
  if (!enabled) return 'disabled (set PLAYWRIGHT_ENABLED=true)';
  return `enabled (${headless ? 'headless' : 'with a window'}, ${browser})`;
}
