import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isRecord } from '../../shared/json.ts';

/** Writes an image of a result as `<tool>-<n>.<type>` into a folder, beside what is there; gives the file's path. */
export async function writeImage(
  folder: string,
  tool: string,
  { data, mimeType }: { readonly data: string; readonly mimeType: string },
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const extension = /^image\/([a-z0-9]+)$/.exec(mimeType)?.[1] ?? 'image';
  for (let n = 1; ; n++) {
    const file = join(resolve(folder), `${tool}-${n}.${extension}`);
    try {
      await writeFile(file, Buffer.from(data, 'base64'), { flag: 'wx' });
      return file;
    } catch (error) {
      if (!isRecord(error) || error['code'] !== 'EEXIST') throw error;
    }
  }
}
