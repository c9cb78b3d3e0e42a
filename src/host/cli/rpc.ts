import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { messageOf } from '../../shared/errors.ts';
import { closeOnSignals } from '../index.ts';
import type { CommandFactory } from './cli-command.ts';
import { EXIT, type ExitCode, exitCodeOf } from './exit-code.ts';
import { addHostFlags, createHost, type HostFlags, workspaceOf } from './host-flags.ts';
import { notification } from './json-rpc-message.ts';
import { JsonRpcStream } from './json-rpc-stream.ts';
import { Outbox } from './outbox.ts';
import { rpcDispatch } from './rpc-methods.ts';
import { isLogged, stderrLogger } from './terminal-log.ts';

/** Behind the stop: how long answers may take that should have been given by then, and the client to read what is left. */
const LAST_ANSWERS_MS = 500;
const FLUSH_MS = 1000;
/** The stop after an error in the host itself. */
const FAILED_CLOSE_MS = 1500;

const HELP = `
Send one JSON-RPC 2.0 message a line on stdin; answers and notifications come on stdout, the log on stderr.
The end of stdin closes the host.

Example:
  $ caldera rpc --config caldera.json
  > {"jsonrpc":"2.0","id":1,"method":"session/open","params":{"sessionId":"chat-1","cwd":"/tmp"}}
  > {"jsonrpc":"2.0","id":2,"method":"tool/call","params":{"sessionId":"chat-1","name":"list_notes","arguments":{}}}
  > {"jsonrpc":"2.0","method":"$/cancel","params":{"id":2}}
  > {"jsonrpc":"2.0","id":3,"method":"host/close"}

A configuration file:
  { "mcp": { "servers": { "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] } } },
    "extensions": ["./my-extension.ts"] }`;

/** `caldera rpc`: the host as a sidecar for any language. */
export const rpcCommand: CommandFactory = (finish) =>
  addHostFlags(new Command('rpc'))
    .description('the host as a sidecar for any language: JSON-RPC 2.0 on stdin and stdout, one message a line')
    .addHelpText('after', HELP)
    .action(async (flags: HostFlags) => finish(await serve(flags)));

async function serve(flags: HostFlags): Promise<ExitCode> {
  const logger = stderrLogger(flags.logLevel);
  const workspace = workspaceOf(flags);
  const host = createHost(flags, logger);
  if (process.stdin.isTTY) logger.warn('reading JSON-RPC messages from this terminal; caldera rpc --help shows some');

  let closing: Promise<void> | undefined;
  const close = (timeoutMs?: number): Promise<void> =>
    (closing ??= host.close(timeoutMs === undefined ? {} : { timeoutMs }));
  let end = (_exitCode: ExitCode, _closeMs?: number): void => undefined;
  const ended = new Promise<ExitCode>((resolve) => {
    end = (exitCode, closeMs) => {
      close(closeMs).then(
        () => resolve(exitCode),
        (error: unknown) => {
          logger.error(`the host did not stop in good order: ${messageOf(error)}`);
          resolve(EXIT.failed);
        },
      );
    };
  });

  const outbox = new Outbox(process.stdout, {
    onDropped(dropped) {
      const message = 'notifications dropped: the client did not read';
      logger.warn({ dropped }, message);
      if (isLogged('warn', flags.logLevel))
        outbox.offer('log', notification('log', { level: 'warn', message, dropped }));
    },
    onGone: () => end(EXIT.done),
  });
  host.on('log', (record) => {
    if (isLogged(record.level, flags.logLevel)) outbox.offer('log', notification('log', record));
  });
  host.on('extension-state', (state) => outbox.send(notification('extension/state', state)));
  process.once('uncaughtException', (error) => {
    logger.error(`the host failed: ${error.stack ?? error.message}`);
    end(EXIT.failed, FAILED_CLOSE_MS);
  });

  const started = host.start();
  started.catch((error: unknown) => {
    logger.error(`the host did not start: ${messageOf(error)}`);
    end(exitCodeOf(error));
  });
  const closeForClient = (): Promise<void> => {
    end(EXIT.done);
    return close();
  };
  const stream: JsonRpcStream = new JsonRpcStream(process.stdin, outbox, {
    request: rpcDispatch({
      host,
      started,
      workspace,
      outbox,
      ask: (method, params, signal) => stream.ask(method, params, signal),
      close: closeForClient,
    }),
    ignored: (why) => logger.warn(`rpc: ${why}`),
    end: () => end(EXIT.done),
  });
  stream.start();

  // Whatever ends it, the last answers reach the client before the process goes.
  const done = ended.then(async (exitCode) => {
    await Promise.race([stream.settled(), delay(LAST_ANSWERS_MS)]);
    await outbox.flushed(FLUSH_MS);
    return exitCode;
  });
  closeOnSignals({
    async close({ timeoutMs }) {
      end(EXIT.done, timeoutMs);
      await done;
    },
  });
  return done;
}
