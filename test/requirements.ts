/**
 * Every behaviour that the design of the MCP client asks for (its sections Decisions, Components and Testing), each with an id
 * that tests cite in a name or a comment. `kept`: as the design says. `changed`: otherwise, as the page says. `not ours`: of
 * another program. A test fails for a kept or changed one that no test cites.
 */
export interface Requirement {
  readonly section: string;
  readonly text: string;
  readonly status: 'kept' | 'changed' | 'not ours';
  /** Where the other behaviour is written down. */
  readonly page?: string;
}

const kept = (section: string, text: string): Requirement => ({ section, text, status: 'kept' });
const changed = (section: string, text: string, page: string): Requirement => ({
  section,
  text,
  status: 'changed',
  page,
});
const notOurs = (section: string, text: string): Requirement => ({ section, text, status: 'not ours' });

export const REQUIREMENTS: Readonly<Record<string, Requirement>> = {
  // Decisions
  'MCP-01': kept('Decisions', 'an extension against the public API alone: named by the host or by its path'),
  'MCP-02': kept('Decisions', 'the official SDK does the protocol; its types stay in the extension'),
  'MCP-03': kept('Decisions', 'a process for each session and server, one catalogue for all sessions'),
  'MCP-04': kept('Decisions', 'the session process starts at the first call and ends with the session or when idle'),
  'MCP-05': kept('Decisions', 'tools are registered while the factory runs, so that activeTools holds for them'),
  'MCP-06': kept(
    'Decisions',
    'a server that cannot start contributes no tools and breaks nothing; its failure is cached for 60 s',
  ),
  'MCP-07': kept('Decisions', 'tools are sequential unless the server is parallel'),
  'MCP-08': kept(
    'Decisions',
    'servers get the filtered environment; their own entries pass; ${env:NAME} hands over one variable',
  ),
  'MCP-09': changed(
    'Decisions',
    'everything that leaves a worker is redacted at the boundary, /mcp and stderr too',
    'docs/mcp.md',
  ),
  'MCP-10': kept('Decisions', '/new ends the processes of the session'),
  'MCP-11': kept('Components 10', 'the log says once whether the browser preset is enabled'),
  'MCP-12': kept(
    'Decisions',
    'sources: host options, preset, settings.json of the agent dir; the first wins; none in the cwd',
  ),
  // Components 1: configuration
  'MCP-13': changed(
    'Components 1',
    'settings.json is read by the host, watched, and a bad entry of it harms no other',
    'docs/configuration.md',
  ),
  'MCP-14': kept('Components 1', '${workspace} expands in command, args, env and cwd; cwd is the workspace by default'),
  'MCP-15': kept('Components 2', 'the preset becomes the server "playwright" without a prefix, both timeouts 120 s'),
  'MCP-16': kept('Components 2', 'the package is pinned; `package` names another one'),
  'MCP-17': kept('Components 2', 'with `command` nothing is installed'),
  'MCP-18': kept('Components 2', 'chromium unless a browser is named'),
  'MCP-19': kept('Components 2', 'no --no-sandbox of its own'),
  'MCP-20': kept('Components 2', 'files go to the browser folder of the workspace'),
  'MCP-21': changed(
    'Components 2',
    'the profile lies in .caldera of the workspace; --isolated keeps none',
    'docs/configuration.md',
  ),
  'MCP-22': kept(
    'Components 1',
    'PLAYWRIGHT_* variables fill in the preset; quotes are honoured; empty counts as unset',
  ),
  'MCP-23': kept('Components 1', 'options win over the environment'),
  'MCP-24': kept(
    'Components 1',
    'settings.json may hold comments; the agent dir is an option, a variable, or a default',
  ),
  'MCP-25': kept(
    'Components 1',
    'the key of a catalogue is made of what is not expanded, with the prefix and without secrets',
  ),
  'MCP-26': kept('Components 1', 'empty commands, bad timeouts, prefixes and keys are refused, all at once'),
  'MCP-27': kept(
    'Components 1',
    'servers are ordered by name, case-insensitively, then ordinally; names compare ordinally',
  ),
  'MCP-28': kept('Components 1', 'null removes a variable; an unset one becomes empty'),
  'MCP-29': kept('Components 1', 'idleTimeoutSeconds 0 never stops an idle process'),
  'MCP-30': kept('Components 1', 'named by its path alone the extension reads the environment and settings.json'),
  // Components 3: catalogue
  'MCP-31': kept('Components 3', 'sessions that open at once share one discovery, detached from any of them'),
  'MCP-32': kept('Components 3', 'a discovery runs in a fresh temporary folder, which is removed behind'),
  'MCP-33': kept('Components 3', 'the catalogue is returned before the discovery has been cleaned up'),
  'MCP-34': kept('Components 3', 'the whole paginated list within the startup timeout'),
  'MCP-35': kept('Components 3', 'a failed discovery tells the exit code and the last lines of stderr'),
  'MCP-36': kept('Components 3', 'discoveries see host hooks only and no time zone'),
  // Components 4: names
  'MCP-37': kept('Components 4', 'exposed names hold [A-Za-z0-9_-], at most 48 characters; duplicates get _2, _3'),
  'MCP-38': kept('Components 4', "calls use the server's own name"),
  'MCP-39': kept('Components 4', 'the name of a built-in is refused with a word about a prefix'),
  'MCP-40': kept('Components 4', 'between two servers the first has the name, and the refusal names both'),
  'MCP-41': notOurs('Components 4', 'names as the Claude Code provider shows them'),
  // Components 5: the session process
  'MCP-42': kept('Components 5', 'one start for calls that come at once, within the startup timeout'),
  'MCP-43': kept(
    'Components 5',
    'stderr reaches the log at stderrLevel with the name of the server in front; the last 20 lines are kept',
  ),
  'MCP-44': kept(
    'Components 5',
    'an abort and a timeout each send notifications/cancelled once; a timeout is a result, an abort a rejection',
  ),
  'MCP-45': kept(
    'Components 5',
    'a dead server is an error with code and stderr; the next call starts another; nothing is retried by itself',
  ),
  'MCP-46': kept('Components 5', 'a JSON-RPC error is an error result, and the server lives on'),
  'MCP-47': kept('Components 5', 'an idle process is stopped, never under a call that has just come'),
  'MCP-48': changed(
    'Components 5',
    'stopping is a ladder over the whole process tree, bounded by shutdownTimeoutSeconds',
    'docs/mcp.md',
  ),
  'MCP-49': kept('Components 5', 'disposing is idempotent, and later calls say that the session has ended'),
  'MCP-50': kept(
    'Components 5',
    'new, resume and fork stop and leave the connection usable; quit and reload end it; all servers at once',
  ),
  'MCP-51': changed('Components 5', 'a live list that differs is logged, and changes the session', 'docs/mcp.md'),
  'MCP-52': kept('Components 5', 'the browser preset says that browser state was lost'),
  // Components 6: the tool
  'MCP-53': kept('Components 6', 'description, schema verbatim without $schema; a missing schema is {"type":"object"}'),
  'MCP-54': kept('Components 6', 'arguments are checked for required and primitive types only'),
  // Components 7: results
  'MCP-55': kept('Components 7', 'text is joined and cut at 2000 lines or 50 KB with a note'),
  'MCP-56': kept('Components 7', 'images are passed on; one over 5 MB is named'),
  'MCP-57': kept('Components 7', 'audio, resources and links become lines of text'),
  'MCP-58': kept('Components 7', 'structured content alone is shown as JSON'),
  'MCP-59': kept('Components 7', 'isError keeps text and images, and is an error'),
  'MCP-60': kept('Components 7', 'details name server, tool, isError, truncated and images'),
  'MCP-61': notOurs('Components 7', 'what model providers make of images'),
  // Components 8 and 9
  'MCP-62': kept('Components 8', 'ToolExecutionError is part of the public API'),
  'MCP-63': kept('Components 9', '/mcp lists every server with its state and number of tools'),
  'MCP-64': kept(
    'Components 9',
    '/mcp <name> shows command, names of variables, server, tools, last error, stderr; never values',
  ),
  'MCP-65': kept('Components 9', '/mcp restart <name> ends the process, and the next call starts anew'),
  'MCP-66': kept('Components 9', 'a disabled preset tells how to enable it'),
  'MCP-67': changed(
    'Components 10',
    'mcpExtension(options) applies the environment and refuses bad options',
    'docs/configuration.md',
  ),
  'MCP-68': notOurs('Components 10', 'wiring of the Telegram host'),
  'MCP-69': notOurs('Components 11', "pages of the other program's documentation"),
  // What the pages add to the design
  'MCP-70': changed('Components 1', 'variables that settings.json mentions are granted', 'docs/configuration.md'),
  'MCP-71': changed('Components 1', 'settings.json may change while servers run', 'docs/mcp.md'),
  'MCP-72': changed('Components 3', 'a catalogue is kept on disk for the next start', 'docs/mcp.md'),
  'MCP-73': changed('Out of scope', 'list_changed refreshes the tools of a session', 'docs/mcp.md'),
  'MCP-74': changed('Out of scope', 'tools.include and tools.exclude', 'docs/configuration.md'),
  'MCP-75': changed('Out of scope', 'scope "host" shares one process', 'docs/configuration.md'),
  'MCP-76': changed('Components 5', 'stopTool lets a server save its state', 'docs/configuration.md'),
  'MCP-77': kept('Components 2', "a server's prompt section is there while one of its tools is active"),
  'MCP-78': changed('Components 5', 'maxProcesses bounds the processes of all sessions', 'docs/configuration.md'),
  // Testing
  'MCP-79': kept(
    'Testing',
    'neither OPENAI_API_KEY nor GITHUB_TOKEN reaches a server that was not given it; both processes agree; TZ',
  ),
  'MCP-80': kept('Testing', 'end to end, a secret in an env dump and in an exit error reads [REDACTED]'),
  'MCP-81': kept('Testing', 'hang-on-start gives up after its time and the session has its other tools'),
  'MCP-82': kept('Testing', 'the fake server: its modes'),
  'MCP-83': kept('Testing', 'shutdown ends the process, checked by pid'),
  'MCP-84': notOurs('Testing', 'aliases of the Claude Code tool catalogue'),
  'MCP-85': notOurs('Testing', 'the manual check with Telegram'),
};
