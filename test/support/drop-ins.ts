/** Drop-ins made on the spot, and the grants an operator would write for them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ExtensionHost, ExtensionHostOptions } from '../../src/host/index.ts';
import { writeGrant } from '../../src/host/policy/grant-file.ts';
import { readUntrusted } from '../../src/host/untrusted-extension.ts';
import type { Permissions, Tier } from '../../src/shared/sandbox.ts';
import { makeHost } from './extension-fixtures.ts';
import { makeWorkspace } from './workspace.ts';

export interface DropInSource {
  readonly name?: string;
  readonly source: string;
  /** With one it is a folder with `extension.json` and `index.ts`, else a single file. */
  readonly manifest?: object;
  readonly files?: Readonly<Record<string, string>>;
}

/** Writes a drop-in; gives its path. */
export function writeDropIn(folder: string, { name = 'probe', source, manifest, files }: DropInSource): string {
  if (!manifest && !files) {
    const file = join(folder, `${name}.ts`);
    writeFileSync(file, source);
    return file;
  }
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  if (manifest) writeFileSync(join(own, 'extension.json'), JSON.stringify({ id: `test.${name}`, ...manifest }));
  for (const [path, content] of Object.entries({ 'index.ts': source, ...files })) {
    mkdirSync(dirname(join(own, path)), { recursive: true });
    writeFileSync(join(own, path), content);
  }
  return own;
}

/** Writes what `caldera extensions grant ID --yes` writes. */
export async function grantDropIn(
  agentDir: string,
  path: string,
  permissions: Permissions = {},
  tier?: Tier,
): Promise<void> {
  const { id, hash } = await readUntrusted(path);
  writeGrant(agentDir, id, { hash, permissions, ...(tier ? { tier } : {}) });
}

/** A host over a folder of drop-ins. With `granted`, each is granted what it requests. */
export async function makeDropInHost(
  sources: readonly (DropInSource & { readonly granted?: Permissions })[],
  options: ExtensionHostOptions = {},
): Promise<{ readonly host: ExtensionHost; readonly folder: string; readonly agentDir: string }> {
  const folder = makeWorkspace('drop-ins');
  const agentDir = makeWorkspace('agent');
  for (const source of sources) {
    const path = writeDropIn(folder, source);
    if (source.granted) await grantDropIn(agentDir, path, source.granted);
  }
  const { extensions = [], ...rest } = options;
  return { host: makeHost(extensions, { agentDir, extensionDirs: [folder], ...rest }), folder, agentDir };
}

/** A factory whose tool `run` evaluates `body`, which has api, params, signal, onUpdate, ctx, and what `imports` brings. */
export function toolOf(body: string, imports = ''): string {
  return `${imports}
export default function factory(api) {
  const text = (value) => ({ content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) ?? String(value) }] });
  const refused = async (work) => {
    try { const got = await work(); return 'got ' + (typeof got === 'string' ? got : JSON.stringify(got)); } catch (error) { return String(error.code) + ': ' + error.message; }
  };
  api.registerTool({
    name: 'run', description: 'Runs.', parameters: { type: 'object' },
    execute: async (callId, params, signal, onUpdate, ctx) => { ${body} },
  });
}
`;
}
