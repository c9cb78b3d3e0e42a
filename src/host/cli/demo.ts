import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { closeOnSignals, ExtensionHost, mcpExtension } from '../index.ts';
import type { CommandFactory } from './cli-command.ts';
import { NUISANCE_EXTENSION, NUISANCE_LIMITS } from './demo-nuisance-steps.ts';
import { demoServer } from './demo-server-entry.ts';
import { type DemoStep, demoSteps } from './demo-steps.ts';
import { DEMO_HEAD, DEMO_NEXT, stepText } from './demo-text.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { logLevelOption } from './host-flags.ts';
import { addJsonFlag, hasColour, print } from './print.ts';
import { type LogLevelName, stderrLogger } from './terminal-log.ts';

interface DemoFlags {
  readonly json?: boolean;
  readonly browser: boolean;
  readonly logLevel: LogLevelName;
}

const HELP = `
It takes some seconds, writes nothing that stays and starts nothing that stays. When a Chromium and @playwright/mcp are here
already, a fourth chat has a browser; nothing is downloaded.`;

/** `caldera demo`: what `npm start` shows. */
export const demoCommand: CommandFactory = (finish) =>
  addJsonFlag(new Command('demo'))
    .description(
      'three chats on an embedded server: state kept apart, a crash, a flood, a stall; needs no configuration',
    )
    .option('--no-browser', 'leave out the fourth chat, which a Chromium and @playwright/mcp would get')
    .addOption(logLevelOption().default('error'))
    .addHelpText('after', HELP)
    .action(async (flags: DemoFlags) => finish(await runDemo(flags)));

async function runDemo({ json = false, browser, logLevel }: DemoFlags): Promise<ExitCode> {
  const folder = await mkdtemp(join(tmpdir(), 'caldera-demo-'));
  const host = new ExtensionHost({
    agentDir: join(folder, 'agent'),
    extensions: [mcpExtension({ servers: { notes: demoServer() }, environment: false }), NUISANCE_EXTENSION],
    limits: NUISANCE_LIMITS,
    logger: stderrLogger(logLevel),
  });
  const clear = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  let interrupted: Promise<void> | undefined;
  const release = closeOnSignals({
    close(options) {
      interrupted ??= host.close(options).then(clear);
      return interrupted;
    },
  });
  const steps: DemoStep[] = [];
  try {
    await host.start();
    if (!json) print(DEMO_HEAD);
    for await (const step of demoSteps(host, folder, { browser })) {
      steps.push(step);
      if (!json) print(stepText(step, hasColour()));
    }
  } catch (error) {
    // What fails because a signal has closed the host is no fault of the demo: the signal's end is on its way.
    if (!interrupted) throw error;
    await interrupted;
    return EXIT.failed;
  } finally {
    await host.close();
    await clear();
    release();
  }
  const ok = steps.every((step) => step.ok);
  print(json ? JSON.stringify({ ok, steps }, null, 2) : DEMO_NEXT);
  return ok ? EXIT.done : EXIT.reported;
}
