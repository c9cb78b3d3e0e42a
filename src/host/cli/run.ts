import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { Command } from 'commander';
import { ExtensionHostError, messageOf } from '../../shared/errors.ts';
import { isRecord, type JsonObject } from '../../shared/json.ts';
import { closeOnSignals } from '../index.ts';
import { Planner, type RunResult } from '../workflow/index.ts';
import type { CommandFactory } from './cli-command.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { addHostFlags, createHost, type HostFlags, workspaceOf } from './host-flags.ts';
import { eventLine, resultText } from './run-text.ts';
import { stderrLogger } from './terminal-log.ts';

interface RunFlags extends HostFlags {
  readonly input?: string;
  readonly runId?: string;
  readonly resume?: string;
  readonly maxSteps?: string;
  readonly json?: boolean;
}

const HELP = `
A deployment is a JSON file, or the id of one in <agent-dir>/deployments:
  { "id": "look-twice", "connections": ["playwright"], "entry": "open",
    "nodes": [
      { "id": "open", "capability": "playwright.browser_navigate", "input": { "url": "\${input.url}" }, "next": { "ok": "look" } },
      { "id": "look", "capability": "playwright.browser_snapshot", "next": { "state_lost": "open" } } ] }

All nodes run on the same server processes. A run that was interrupted goes on with --resume and its id.

Example:
  $ caldera run look-twice.json --config caldera.json --input '{"url": "https://example.com"}'

Exit codes: 0 the run ended with ok; 1 with another outcome; 2 usage, deployment or configuration; 3 the host failed.
Needs: npm install @langchain/langgraph @langchain/core`;

/** `caldera run`: one run of a workflow deployment. */
export const runCommand: CommandFactory = (finish) =>
  addHostFlags(new Command('run'))
    .description('run a workflow deployment, every node on the same server processes, and print its event trace')
    .argument('<file>', 'the deployment: a JSON file, or an id in <agent-dir>/deployments')
    .option('--input <json>', "the run's input: a JSON object, @FILE, or - for stdin")
    .option('--run-id <id>', 'name the run, to resume it by (default: a new id)')
    .option('--resume <id>', 'go on with a run that was interrupted, with the input it had')
    .option('--max-steps <n>', 'end a run that goes through more nodes (default: 250)')
    .option('--json', 'print one JSON document instead of text')
    .addHelpText('after', HELP)
    .action(async (file: string, flags: RunFlags) => finish(await run(file, flags)));

async function run(file: string, flags: RunFlags): Promise<ExitCode> {
  const { json = false, resume } = flags;
  if (resume !== undefined && (flags.runId !== undefined || flags.input !== undefined)) {
    throw new ExtensionHostError('INVALID_ARGUMENT', '--resume takes neither --run-id nor --input: the run has both');
  }
  const maxSteps = maxStepsOf(flags.maxSteps);
  const input = await inputOf(flags.input);
  const runId = resume ?? flags.runId ?? `run-${randomUUID()}`;
  const host = createHost(flags, stderrLogger(flags.logLevel));
  const planner = new Planner(host, { cwd: workspaceOf(flags) ?? process.cwd() });
  const interrupt = new AbortController();
  let stopping: Promise<void> | undefined;
  const release = closeOnSignals({
    close(options) {
      // The run first, so that it ends as interrupted, not as one whose servers died.
      interrupt.abort();
      stopping ??= host.close(options);
      return stopping;
    },
  });
  try {
    const result = await planner.runDeployment(file, input, {
      runId,
      resume: resume !== undefined,
      signal: interrupt.signal,
      ...(maxSteps === undefined ? {} : { maxSteps }),
      onEvent: (event) => {
        if (!json) print(eventLine(event));
      },
    });
    print(json ? JSON.stringify(result, null, 2) : resultText(result));
    return exitCodeOfRun(result);
  } catch (error) {
    if (stopping === undefined) throw error;
    process.stderr.write(`caldera: the run was interrupted; go on with: caldera run ${file} --resume ${runId}\n`);
    await stopping;
    return EXIT.failed;
  } finally {
    await host.close();
    release();
  }
}

function exitCodeOfRun({ outcome }: RunResult): ExitCode {
  return outcome === 'ok' ? EXIT.done : EXIT.reported;
}

/** @throws INVALID_ARGUMENT */
async function inputOf(given: string | undefined): Promise<JsonObject> {
  if (given === undefined) return {};
  const value: unknown = parsed(await sourceOf(given));
  if (isRecord(value)) return value as JsonObject;
  throw new ExtensionHostError('INVALID_ARGUMENT', `--input must be a JSON object, such as '{"url": "…"}'`);
}

async function sourceOf(given: string): Promise<string> {
  if (given === '-') return readAll(process.stdin);
  if (!given.startsWith('@')) return given;
  try {
    return readFileSync(given.slice(1), 'utf8');
  } catch (error) {
    throw new ExtensionHostError('INVALID_ARGUMENT', `--input ${given} cannot be read: ${messageOf(error)}`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function maxStepsOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^[1-9]\d{0,6}$/.test(given)) return Number(given);
  throw new ExtensionHostError('INVALID_ARGUMENT', `--max-steps must be a positive whole number, not ${given}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
