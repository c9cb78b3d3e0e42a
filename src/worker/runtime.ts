import * as Comlink from 'comlink';
import { toWireError } from '../shared/errors.ts';
import type { JsonObject } from '../shared/json.ts';
import { type MessagePortLike, portEndpoint } from '../shared/port-endpoint.ts';
import type { Commit, Outcome, SessionOpening, ThreadBoot, ThreadNote, ThreadRemote } from '../shared/protocol.ts';
import { VitalsWriter } from '../shared/vitals.ts';
import { type LoadedExtension, loadBoot } from './boot-loader.ts';
import { ExtensionSession } from './extension-session.ts';
import { HostClient, RequestBudget } from './host-client.ts';
import { LogForwarder } from './log-forwarder.ts';
import { NoteCredit } from './note-credit.ts';
import { ProcessLedger } from './process-ledger.ts';
import type { ThreadServices } from './thread-services.ts';

/** The parts of a runtime that the thread around it needs. */
export interface Runtime {
  readonly log: LogForwarder;
  readonly ledger: ProcessLedger;
  readonly vitals: VitalsWriter;
  readonly note: (note: ThreadNote) => void;
}

/** Serves one extension over its control port. Knows ports, not threads: a test runs it over a MessageChannel. */
export function startRuntime(boot: ThreadBoot): Runtime {
  const { limits, overlapBytes, options, agentDir } = boot;
  const note = (value: ThreadNote): void => boot.control.postMessage({ note: value });
  const settings = { current: boot.settings };
  const vitals = new VitalsWriter(boot.vitals);
  const credit = new NoteCredit(limits, () => vitals.countDropped());
  const log = new LogForwarder(note, credit, limits, overlapBytes);
  const budget = new RequestBudget(limits);
  const control = new HostClient(boot.control, budget);
  const ledger = new ProcessLedger(note);
  const services: ThreadServices = {
    limits,
    overlapBytes,
    options,
    settings,
    agentDir,
    log,
    credit,
    control,
    budget,
    ledger,
  };
  serve(boot.control, new ThreadRuntime(() => loadBoot(boot, note), services));
  return { log, ledger, vitals, note };
}

class ThreadRuntime implements ThreadRemote {
  readonly #load: () => Promise<LoadedExtension>;
  readonly #services: ThreadServices;
  #extension: Promise<LoadedExtension> | undefined;

  constructor(load: () => Promise<LoadedExtension>, services: ThreadServices) {
    this.#load = load;
    this.#services = services;
  }

  load(): Promise<Outcome<null>> {
    return settle(async () => {
      await this.#loaded();
      return null;
    });
  }

  openSession(opening: SessionOpening, port: MessagePortLike): Promise<Outcome<Commit>> {
    return settle(async () => {
      const session = new ExtensionSession(opening, port, this.#services);
      // Served before the factory runs: what it asks of the host is answered on this port.
      serve(port, session);
      port.on('close', () => void session.close());
      return session.activate((await this.#loaded()).factoryFor(session.instance));
    });
  }

  settings(settings: JsonObject): Promise<Outcome<null>> {
    this.#services.settings.current = settings;
    return settle(async () => null);
  }

  shutdown(timeoutMs: number): Promise<Outcome<null>> {
    return settle(async () => {
      await this.#services.ledger.killAll(timeoutMs);
      return null;
    });
  }

  async answer(id: number, outcome: Outcome<unknown>): Promise<void> {
    this.#services.control.answer(id, outcome);
  }

  #loaded(): Promise<LoadedExtension> {
    this.#extension ??= this.#load();
    return this.#extension;
  }
}

/** Errors go back as data: Comlink would lose their class, code and cause. */
async function settle<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: toWireError(error, 'EXTENSION_LOAD_FAILED') };
  }
}

/** Comlink reaches methods of the prototype as well as own ones; private state stays private (`#`). */
function serve(port: MessagePortLike, remote: object): void {
  Comlink.expose(remote, portEndpoint(port) as Comlink.Endpoint);
}
