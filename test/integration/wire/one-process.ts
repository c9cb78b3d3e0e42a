/** Both sides of the boundary in one process: the host's links on one end of real ports, the thread's runtime on the other. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import * as Comlink from 'comlink';
import { InboundMeter } from '../../../src/host/thread/inbound-meter.ts';
import { Link } from '../../../src/host/thread/link.ts';
import type { JsonObject } from '../../../src/shared/json.ts';
import { DEFAULT_LIMITS } from '../../../src/shared/limits.ts';
import {
  type SessionNote,
  SessionNoteSchema,
  type SessionRemote,
  type ThreadNote,
  ThreadNoteSchema,
  type ThreadRemote,
} from '../../../src/shared/protocol.ts';
import { createVitals } from '../../../src/shared/vitals.ts';
import { type Runtime, startRuntime } from '../../../src/worker/runtime.ts';

/** Everything that crossed, in order, as it was posted and as it arrived. */
export interface Crossing {
  readonly from: 'host' | 'worker';
  readonly posted: unknown;
}

export interface Wire {
  readonly crossings: readonly Crossing[];
  readonly violations: readonly string[];
  readonly runtime: Runtime;
  readonly threadNotes: readonly ThreadNote[];
  readonly sessionNotes: readonly SessionNote[];
  readonly thread: Link<ThreadRemote, ThreadNote>;
  readonly session: Link<SessionRemote, SessionNote>;
  /** Goes to `openSession`. */
  readonly sessionPort: MessagePort;
}

export interface WireOptions {
  readonly url: string;
  readonly options?: JsonObject;
  /** Answers the host requests of both ports. */
  readonly onRequest: (op: string, payload: unknown) => Promise<unknown>;
}

export function startWire({ url, options = {}, onRequest }: WireOptions): Wire {
  const crossings: Crossing[] = [];
  const violations: string[] = [];
  const threadNotes: ThreadNote[] = [];
  const sessionNotes: SessionNote[] = [];
  const control = new MessageChannel();
  const session = new MessageChannel();
  const tap = (from: Crossing['from'], port: MessagePort): void => {
    const post = port.postMessage.bind(port) as (message: unknown, transfer?: readonly object[]) => void;
    port.postMessage = (message: unknown, transfer?: readonly object[]): void => {
      crossings.push({ from, posted: message });
      post(message, transfer);
    };
  };
  tap('host', control.port1);
  tap('worker', control.port2);
  tap('host', session.port1);
  const meter = new InboundMeter(DEFAULT_LIMITS, (what) => violations.push(what));
  const shared = { meter, onRequest, onViolation: (what: string) => violations.push(what) };
  const thread: Link<ThreadRemote, ThreadNote> = new Link({
    ...shared,
    port: control.port1,
    noteSchema: ThreadNoteSchema,
    onNote: (note) => threadNotes.push(note),
  });
  const sessionLink: Link<SessionRemote, SessionNote> = new Link({
    ...shared,
    port: session.port1,
    noteSchema: SessionNoteSchema,
    onNote: (note) => sessionNotes.push(note),
  });
  // The thread's end of the session's port is another object after its transfer: what arrives on this side stands for it.
  session.port1.on('message', (message: unknown) => crossings.push({ from: 'worker', posted: message }));
  const runtime = startRuntime({
    extension: 'wire',
    url,
    options,
    settings: {},
    agentDir: '/agent',
    limits: DEFAULT_LIMITS,
    generation: 1,
    overlapBytes: 64,
    vitals: createVitals(),
    control: control.port2,
  });
  const sessionPort = Comlink.transfer(session.port2, [session.port2]);
  return { crossings, violations, runtime, threadNotes, sessionNotes, thread, session: sessionLink, sessionPort };
}
