import { styleText } from 'node:util';
import { printable } from '../../shared/printable.ts';
import type { Meanwhile } from './demo-nuisance-steps.ts';
import type { ChatNotes, DemoStep } from './demo-steps.ts';

export const DEMO_HEAD = 'Three chats, each with an MCP server that remembers notes. No configuration, no network.';

export const DEMO_NEXT = `
What next:
  caldera tools --help       the tools of your own servers and extensions; caldera call --help tries one
  caldera rpc --help         the host beside a program in any language, with your own servers and extensions
  caldera demo --json        what you have just seen, as JSON
  import { ExtensionHost, mcpExtension } from 'caldera'      the same in a program of your own`;

/** One step of the demo for people. Colours only when they are asked for. */
export function stepText(step: DemoStep, colour: boolean): string {
  const bold = (text: string): string => (colour ? styleText('bold', text) : text);
  const red = (text: string): string => (colour ? styleText('red', text) : text);
  const dim = (text: string): string => (colour ? styleText('dim', text) : text);
  const [title, ...lines] = linesOf(step);
  const failed = step.ok ? '' : red('  (this is not what was promised)');
  return ['', `${bold(title)} ${dim(`${step.ms} ms`)}${failed}`, ...lines.map((line) => `  ${line}`)].join('\n');
}

function linesOf(step: DemoStep): [string, ...string[]] {
  switch (step.step) {
    case 'tools':
      return [
        'The tools: listed once, offered to all three chats',
        ...step.tools.map(({ name, description }) => `${name.padEnd(12)} ${printable(description)}`),
      ];
    case 'state':
      return ['State is kept apart: each chat has a server process of its own', ...step.chats.map(chatText)];
    case 'crash':
      return [
        `${step.before.chat} crashes its server; the next call starts another one`,
        `the call that crashed it says: ${printable(step.answer)}`,
        `${chatText(step.after)}   (was ${step.before.pid})`,
        ...step.others.map((other) => `${chatText(other)}   (unharmed)`),
      ];
    case 'cancel':
      return [
        `${step.chat} cancels a call of 60 s after half a second`,
        `the caller saw ${step.progressSeen} progress reports, then ${step.code}`,
        `its server counts ${step.cancelledAtServer} cancelled call and has answered the next one`,
      ];
    case 'load':
      return [`${step.calls} calls at once over ${step.chats} chats`, `${step.failed} failed`];
    case 'flood':
      return [
        'An extension floods its log',
        `${step.records} records at once: ${step.received} reached the main thread, the rest was dropped and counted`,
        meanwhileText(step),
      ];
    case 'stall':
      return [
        'An extension blocks its thread for ever',
        `the call ends with ${step.code}; the next one runs in thread number ${step.generation}`,
        meanwhileText(step),
      ];
    case 'browser':
      if (step.skipped !== undefined)
        return ['A fourth chat would have a browser', `left out: ${printable(step.skipped)}`];
      return [
        `A fourth chat has a browser: ${step.tools} tools over ${printable(step.chromium ?? '')}`,
        `two clicks on a page of its own: the button says "${printable(step.button ?? '')}"`,
        `a screenshot of ${step.screenshotBytes} bytes`,
      ];
    case 'loop': {
      const { p50Ms, p99Ms, maxMs } = step.eventLoop;
      return [
        "The main loop's delay through all of this",
        `p50 ${fixed(p50Ms)} ms   p99 ${fixed(p99Ms)} ms   max ${fixed(maxMs)} ms`,
        `${step.processes} server processes, ${Math.round(step.rssMb)} MB of memory in the host`,
      ];
    }
  }
}

function meanwhileText({ answered, slowestMs }: Meanwhile): string {
  return `meanwhile chat-1 had ${answered} calls answered, the slowest in ${slowestMs} ms`;
}

function chatText({ chat, notes, pid }: ChatNotes): string {
  const list = notes.length === 0 ? 'no notes' : printable(notes.join(', '));
  return `${chat}   process ${pid}   ${list}`;
}

function fixed(ms: number): string {
  return ms.toFixed(1);
}
