/** How an attack is staged in the host under attack, and what the host sees of it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ExtensionHost, Session, ToolResult } from '../../src/host/index.ts';
import type { Tier } from '../../src/shared/sandbox.ts';
import type { Scenario } from './hostile-case.ts';
import type { MainThreadWatch } from './main-thread-watch.ts';

export interface Attack {
  readonly path: string;
  readonly tier: Tier;
  readonly timeoutMs: number;
  /** What another chat keeps, and its folder, which has it in its name. */
  readonly secret: string;
  readonly chat: string;
}

export interface Stage {
  readonly host: ExtensionHost;
  readonly cwd: string;
  readonly watch: MainThreadWatch;
}

const ENDED: ReadonlySet<string | undefined> = new Set([
  'CALL_TIMEOUT',
  'THREAD_EXITED',
  'THREAD_STALLED',
  'THREAD_MEMORY',
  'ACTIVATION_TIMEOUT',
  'SESSION_CLOSED',
]);
const OPEN_CALLS = 8;
let sessions = 0;

export const SCENARIOS: Readonly<
  Record<Exclude<Scenario, 'storm'>, (stage: Stage, attack: Attack) => Promise<object>>
> = {
  async call(stage, { path, tier, timeoutMs }) {
    const id = await stage.host.load({ path, tier });
    const session = await open(stage, 'call');
    await neighbourOf(session);
    return observe(stage, session, id, async () => call(session, `attack_${id}`, timeoutMs));
  },

  async chats(stage, attack) {
    const { path, tier, secret, chat, timeoutMs } = attack;
    const id = await stage.host.load({ path, tier, options: { of: 'every chat' } });
    // The same code again, as another extension: its tools are refused, its options are its own.
    await stage.host.load({ path, tier, options: { token: secret } });
    const other = await open(stage, 'other', chat);
    const keeps = async (): Promise<void> => {
      await other.callTool({ name: `keep_${id}`, arguments: { text: secret } });
      await other.callTool({ name: 'neighbour_echo', arguments: { text: secret } });
    };
    await keeps();
    const session = await open(stage, 'call');
    const seen = await observe(stage, session, id, async () => {
      const first = await call(session, `attack_${id}`, timeoutMs);
      await keeps();
      const second = await call(session, `attack_${id}`, timeoutMs);
      return { ...second, text: first.text + second.text };
    });
    await other.close();
    return seen;
  },

  async start(stage, { path, tier }) {
    const { host, watch } = stage;
    const id = await host.load({ path, tier });
    const warnings: string[] = [];
    const unsubscribe = host.on('log', ({ extension, message }) => {
      // What a handler of session_start did is nothing that a session waits for: it is logged.
      if (extension === id && /was ended|did not end|timed out|exited with code/.test(message)) warnings.push(message);
    });
    watch.begin();
    const from = performance.now();
    const bad = await open(stage, `bad ${id} `);
    const ms = performance.now() - from;
    const codes = bad.failures.filter(({ extension }) => extension === id).map(({ code }) => code);
    const beside = await neighbourOf(bad);
    const good = await open(stage, 'good');
    const seen = await observe(stage, good, id, async () => ({
      text: JSON.stringify(bad.failures),
      bytes: 0,
      code: '',
    }));
    unsubscribe();
    await bad.close();
    const wasEnded = warnings.length > 0 || codes.some((code) => ENDED.has(code));
    return { ...seen, ms, wasEnded, beside: beside === 'fine' ? seen.beside : beside };
  },

  async reload(stage, { path, tier, timeoutMs }) {
    const id = await stage.host.load({ path, tier });
    const [session, closing] = [await open(stage, 'call'), await open(stage, 'closing')];
    return observe(stage, session, id, async () => {
      const calls = [session, closing].flatMap((one) =>
        Array.from({ length: OPEN_CALLS / 2 }, () => call(one, `attack_${id}`, timeoutMs)),
      );
      await delay(200);
      await closing.close();
      await stage.host.reload(id);
      const answers = await Promise.all(calls);
      // All of them, or none counts.
      const running = answers.find(({ code }) => !ENDED.has(code));
      return running ?? { text: JSON.stringify(answers), bytes: 0, code: answers[0]?.code ?? '' };
    });
  },
};

interface Answer {
  readonly text: string;
  readonly bytes: number;
  readonly code: string;
  readonly isError?: boolean;
}

/** Progress for calls that are over; there must be none. */
let late = 0;

async function call(session: Session, name: string, timeoutMs: number): Promise<Answer> {
  let isOver = false;
  const onProgress = (): void => {
    if (isOver) late += 1;
  };
  const result = await session.callTool({ name }, { timeoutMs, onProgress });
  isOver = true;
  const text = JSON.stringify(result);
  return { text: text.slice(0, 200_000), bytes: text.length, code: codeOf(result), isError: result.isError };
}

function codeOf({ details }: ToolResult): string {
  return details?.error?.code ?? '';
}

/** Runs it, and looks at everything around. Closes the session. */
async function observe(
  { watch }: Stage,
  session: Session,
  id: string,
  run: () => Promise<Answer>,
): Promise<{ readonly beside: string } & Record<string, unknown>> {
  late = 0;
  watch.begin();
  const from = performance.now();
  const { text, bytes, code, isError = false } = await run();
  const ms = performance.now() - from;
  const beside = await neighbourOf(session);
  const { gapMs } = watch;
  const again = await session.callTool({ name: `ok_${id}` }, { timeoutMs: 15_000 });
  const answer = {
    ms,
    gapMs,
    bytes,
    text,
    wasEnded: ENDED.has(code),
    isError,
    beside,
    again: again.isError ? JSON.stringify(again).slice(0, 500) : textOf(again),
    isClean: watch.isClean && late === 0,
    rssMb: process.memoryUsage().rss / 2 ** 20,
  };
  await session.close();
  return answer;
}

export async function neighbourOf(session: Session): Promise<string> {
  const result = await session.callTool({ name: 'neighbour_echo', arguments: { text: 'fine' } });
  return result.isError ? JSON.stringify(result).slice(0, 500) : textOf(result);
}

export function textOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

export function open({ host, cwd }: Pick<Stage, 'host' | 'cwd'>, kind: string, folder = cwd): Promise<Session> {
  sessions += 1;
  return host.openSession({ id: `${kind}${sessions}`, cwd: folder });
}
