import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import {
  ExtensionHost,
  type ExtensionHostOptions,
  type Session,
  type SessionOptions,
  type ToolResult,
} from '../../src/host/index.ts';
import { makeWorkspace } from './workspace.ts';

const open: ExtensionHost[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((host) => host.close()));
});

/** The path of a fixture in test/fixtures/extensions. */
export function extensionFile(name: string): string {
  return fileURLToPath(new URL(`../fixtures/extensions/${name}`, import.meta.url));
}

/** A host over fixtures, by name or whole entries. It is closed after the test. */
export function makeHost(
  extensions: NonNullable<ExtensionHostOptions['extensions']>,
  options: ExtensionHostOptions = {},
): ExtensionHost {
  const named = extensions.map((entry) =>
    typeof entry === 'string' && !entry.includes('/') ? extensionFile(entry) : entry,
  );
  const host = new ExtensionHost({ agentDir: makeWorkspace('agent'), ...options, extensions: named });
  open.push(host);
  return host;
}

let sessions = 0;

/** A session in a workspace of its own. */
export async function openSession(host: ExtensionHost, options: Partial<SessionOptions> = {}): Promise<Session> {
  sessions += 1;
  return host.openSession({ id: `session ${sessions}`, cwd: makeWorkspace(), ...options });
}

/** The text blocks of a result, joined. */
export function textOf(result: ToolResult): string {
  return result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
