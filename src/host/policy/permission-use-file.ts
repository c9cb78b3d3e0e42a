import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { addUse, NO_USE, type PermissionUse, PermissionUseSchema } from '../../shared/sandbox.ts';

const UsesSchema = z.record(z.string(), PermissionUseSchema);

/** What sandboxed extensions used and were refused, over all hosts of an agent directory: for `caldera extensions`. */
export async function readPermissionUse(agentDir: string): Promise<Readonly<Record<string, PermissionUse>>> {
  try {
    const uses = UsesSchema.safeParse(JSON.parse(await readFile(fileOf(agentDir), 'utf8')));
    return uses.success ? uses.data : {};
  } catch {
    return {};
  }
}

/** Adds the counts of a host that ends. Two that end at once may lose one's counts, never more. */
export async function addPermissionUse(agentDir: string, uses: ReadonlyMap<string, PermissionUse>): Promise<void> {
  const counted = [...uses].filter(([, { used, denied }]) => Object.keys(used).length + Object.keys(denied).length > 0);
  if (counted.length === 0) return;
  const known = new Map(Object.entries(await readPermissionUse(agentDir)));
  for (const [id, use] of counted) known.set(id, addUse(known.get(id) ?? NO_USE, use));
  const file = fileOf(agentDir);
  await mkdir(path.dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}.new`;
  await writeFile(fresh, JSON.stringify(Object.fromEntries(known), null, 2));
  await rename(fresh, file);
}

function fileOf(agentDir: string): string {
  return path.join(agentDir, 'extension-use.json');
}
