import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord, type JsonObject } from '../../shared/json.ts';
import type { ToolResult } from '../../shared/tool.ts';
import type { ExtensionHost, Session } from '../index.ts';
import type { CallOptions, HostInspection } from '../options.ts';
import { type BrowserStep, browse, findBrowser } from './demo-browser.ts';
import { type FloodStep, flood, type StallStep, stall } from './demo-nuisance-steps.ts';

/** What one chat knows. */
export interface ChatNotes {
  readonly chat: string;
  readonly notes: readonly string[];
  /** Of its server. */
  readonly pid: number;
}

type Step =
  | { readonly step: 'tools'; readonly tools: readonly { readonly name: string; readonly description: string }[] }
  | { readonly step: 'state'; readonly chats: readonly ChatNotes[] }
  | {
      readonly step: 'crash';
      readonly answer: string;
      readonly before: ChatNotes;
      readonly after: ChatNotes;
      readonly others: readonly ChatNotes[];
    }
  | {
      readonly step: 'cancel';
      readonly chat: string;
      readonly code: string;
      readonly progressSeen: number;
      readonly cancelledAtServer: number;
    }
  | FloodStep
  | StallStep
  | BrowserStep
  | { readonly step: 'load'; readonly chats: number; readonly calls: number; readonly failed: number }
  | {
      readonly step: 'loop';
      readonly eventLoop: HostInspection['eventLoop'];
      readonly rssMb: number;
      readonly processes: number;
    };

/** What a step of the demo did and saw. `ok` is false when it did not go as promised. */
export type DemoStep = Step & { readonly ok: boolean; readonly ms: number };

const CALLS_PER_CHAT = 100;
const CANCEL_AFTER_MS = 500;

/** Lives through the demo on a started host whose server is the embedded one. Each chat gets a folder in `folder`. */
export async function* demoSteps(
  host: ExtensionHost,
  folder: string,
  { browser }: { readonly browser: boolean },
): AsyncGenerator<DemoStep> {
  const chat = async (id: string): Promise<Session> => {
    const cwd = join(folder, id);
    await mkdir(cwd);
    return host.openSession({ id, cwd });
  };
  let from = performance.now();
  const measured = (step: Step & { readonly ok: boolean }): DemoStep => {
    const ms = Math.round(performance.now() - from);
    from = performance.now();
    return { ...step, ms };
  };
  const [one, two, three] = await Promise.all([chat('chat-1'), chat('chat-2'), chat('chat-3')]);
  if (one.tools.length === 0) throw new Error(`the demo's server is not there: ${reasonsOf(one)}`);
  yield measured(showTools(one));
  yield measured(await keepStateApart(one, two, three));
  yield measured(await crashAndRecover(two, [one, three]));
  yield measured(await cancel(three));
  yield measured(await callAtOnce([one, two, three]));
  const probe = (): Promise<ToolResult> => call(one, 'list_notes');
  yield measured(await flood(host, two, probe));
  yield measured(await stall(host, two, probe));
  if (browser) yield measured(await fourthChat(host, join(folder, 'chat-4')));
  yield measured(showLoop(host));
}

type Outcome = Step & { readonly ok: boolean };

function showTools({ tools }: Session): Outcome {
  const notes = tools.filter(({ source }) => source.server !== undefined);
  return { step: 'tools', ok: true, tools: notes.map(({ name, description }) => ({ name, description })) };
}

async function keepStateApart(one: Session, two: Session, three: Session): Promise<Outcome> {
  await call(one, 'add_note', { text: 'buy bread' });
  await Promise.all([call(one, 'add_note', { text: 'call Ana' }), call(two, 'add_note', { text: 'feed the cat' })]);
  const chats = await Promise.all([one, two, three].map(notesOf));
  return { step: 'state', ok: chats.map(({ notes }) => notes.length).join() === '2,1,0', chats };
}

async function crashAndRecover(session: Session, neighbours: readonly Session[]): Promise<Outcome> {
  const [before, ...othersBefore] = await Promise.all([session, ...neighbours].map(notesOf));
  const crashed = await call(session, 'crash');
  const [after, ...others] = await Promise.all([session, ...neighbours].map(notesOf));
  if (!before || !after) throw new Error('the demo has no chat to crash');
  const ok = crashed.isError && after.pid !== before.pid && JSON.stringify(others) === JSON.stringify(othersBefore);
  return { step: 'crash', ok, answer: textOf(crashed), before, after, others };
}

async function cancel(session: Session): Promise<Outcome> {
  let progressSeen = 0;
  const stop = AbortSignal.timeout(CANCEL_AFTER_MS);
  const onProgress = (): void => {
    progressSeen++;
  };
  const code = await call(session, 'slow', { seconds: 60 }, { signal: stop, onProgress }).then(
    () => 'none',
    (error: unknown) => (isRecord(error) ? String(error['code']) : 'none'),
  );
  const cancelledAtServer = (await countsOf(session)).cancelled;
  const ok = code === 'ABORTED' && cancelledAtServer === 1;
  return { step: 'cancel', ok, chat: session.id, code, progressSeen, cancelledAtServer };
}

async function callAtOnce(sessions: readonly Session[]): Promise<Outcome> {
  const calls = sessions.flatMap((session) =>
    Array.from({ length: CALLS_PER_CHAT }, () => call(session, 'list_notes')),
  );
  const failed = (await Promise.all(calls)).filter(({ isError }) => isError).length;
  return { step: 'load', ok: failed === 0, chats: sessions.length, calls: calls.length, failed };
}

async function fourthChat(host: ExtensionHost, cwd: string): Promise<Outcome> {
  const found = findBrowser(process.env);
  if ('missing' in found) return { step: 'browser', ok: true, skipped: found.missing };
  await mkdir(cwd);
  return browse(host, cwd, found);
}

function showLoop(host: ExtensionHost): Outcome {
  const { eventLoop, memory, processes } = host.inspect();
  return { step: 'loop', ok: true, eventLoop, rssMb: memory.rssMb, processes: processes.length };
}

function reasonsOf({ failures }: Session): string {
  return failures.map(({ message }) => message).join('; ') || 'no reason was given';
}

function call(session: Session, name: string, args: JsonObject = {}, options: CallOptions = {}): Promise<ToolResult> {
  return session.callTool({ name, arguments: args }, options);
}

async function notesOf(session: Session): Promise<ChatNotes> {
  const [listed, { pid, notes }] = await Promise.all([call(session, 'list_notes'), countsOf(session)]);
  return { chat: session.id, notes: notes === 0 ? [] : textOf(listed).split('\n'), pid };
}

async function countsOf(session: Session): Promise<{ notes: number; cancelled: number; pid: number }> {
  const { structuredContent } = await call(session, 'count');
  const count = (name: string): number => (isRecord(structuredContent) ? Number(structuredContent[name]) : Number.NaN);
  return { notes: count('notes'), cancelled: count('cancelled'), pid: count('pid') };
}

function textOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}
