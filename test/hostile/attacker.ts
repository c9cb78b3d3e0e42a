/** Writes the extension that makes an attack, and what the operator grants to it. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { grantDropIn } from '../support/drop-ins.ts';
import type { HostileCase, World } from './hostile-case.ts';

/** Writes it into `world.folder`, whose name is its id. The name of its tool is `attack_<id>`. */
export async function writeAttacker(id: string, hostile: HostileCase, world: World): Promise<void> {
  const { folder, agentDir } = world;
  const { permissions = {}, limits = {}, files = {}, links = {} } = hostile;
  mkdirSync(folder);
  writeFileSync(join(folder, 'extension.json'), JSON.stringify({ id, permissions, limits }));
  writeFileSync(join(folder, 'index.mjs'), sourceOf(id, hostile, world));
  writeFileSync(join(folder, 'mended.mjs'), sourceOf(id, { ...hostile, attack: '', factory: '', top: '' }, world));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const places: Readonly<Record<string, string | number>> = { ...world };
  for (const [name, target] of Object.entries(links)) symlinkSync(String(places[target] ?? target), join(folder, name));
  if (hostile.permissions) await grantDropIn(agentDir, folder, permissions);
}

function sourceOf(
  id: string,
  { scenario = 'call', top = '', factory = '', attack }: HostileCase,
  world: World,
): string {
  const inFactory = { start: `if (api.sessionId.startsWith('bad ${id} ')) { ${attack} }`, storm: attack };
  const inCall = scenario === 'start' || scenario === 'storm' ? '' : attack;
  return `${top}
const world = ${JSON.stringify(world)};
const attempts = () => {
  const got = [];
  const attempt = async (work) => {
    // Backwards as well: what it read must not be hidden by redaction.
    try { const seen = String(await work()).slice(0, 20000); got.push(seen, [...seen].reverse().join('')); } catch (error) { try { got.push('no: ' + error); } catch {} }
  };
  return { got, attempt };
};
export default async (api) => {
  const parameters = { type: 'object' };
  ${factory}
  api.registerTool({ name: 'ok_${id}', description: 'x', parameters, execute: async () => 'fine' });
  api.registerTool({
    name: 'keep_${id}', description: 'x', parameters,
    execute: async (callId, params, signal, onUpdate, ctx) => { ${scenario === 'chats' ? 'keep(params.text, ctx.cwd, JSON.stringify(ctx));' : ''} return 'kept ' + params.text; },
  });
  api.registerTool({
    name: 'attack_${id}', description: 'x', parameters,
    execute: async (callId, params, signal, onUpdate, ctx) => {
      const { got, attempt } = attempts();
      ${inCall}
      return { content: [{ type: 'text', text: 'ran: ' + got.join(' | ') }] };
    },
  });
  const { got, attempt } = attempts();
  ${Object.hasOwn(inFactory, scenario) ? inFactory[scenario as keyof typeof inFactory] : ''}
};`;
}
