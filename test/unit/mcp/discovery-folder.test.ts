import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { Logger } from '../../../src/shared/extension-api.ts';
import { createDiscoveryFolder, removeDiscoveryFolder } from '../../../src/worker/mcp/catalog/discovery-folder.ts';

function recordingLogger(): Logger & { readonly warnings: string[] } {
  const warnings: string[] = [];
  const ignore = (): void => {};
  return {
    warnings,
    debug: ignore,
    info: ignore,
    error: ignore,
    warn: (_, message) => void warnings.push(message ?? ''),
  };
}

it('a discovery gets a folder of its own in the temporary folder', async () => {
  const [a, b] = await Promise.all([createDiscoveryFolder(), createDiscoveryFolder()]);
  expect(a).not.toBe(b);
  expect(dirname(a)).toBe(tmpdir());
  expect(basename(a)).toMatch(/^caldera-discovery-/);
  for (const folder of [a, b]) await removeDiscoveryFolder(folder, recordingLogger());
  expect([a, b].map((folder) => existsSync(folder))).toEqual([false, false]);
});

it('a folder goes away with read-only folders in it, and a link is not followed', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'caldera-outside-'));
  writeFileSync(join(outside, 'kept'), 'x');
  const folder = await createDiscoveryFolder();
  mkdirSync(join(folder, '.cache', 'deep'), { recursive: true });
  writeFileSync(join(folder, '.cache', 'deep', 'a'), 'x');
  symlinkSync(outside, join(folder, 'link'));
  chmodSync(join(folder, '.cache', 'deep'), 0o500);
  chmodSync(join(folder, '.cache'), 0o500);
  const logger = recordingLogger();
  await removeDiscoveryFolder(folder, logger);
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(join(outside, 'kept'))).toBe(true);
  expect(logger.warnings).toEqual([]);
  rmSync(outside, { recursive: true });
});

it('a folder that cannot be removed is logged once, and nothing is thrown', async () => {
  const logger = recordingLogger();
  // The file system refuses a NUL in a path, whoever asks.
  await removeDiscoveryFolder('/nowhere\u0000/x', logger);
  expect(logger.warnings).toEqual([expect.stringContaining('could not be removed')]);
});

it('a folder that is gone already is no failure', async () => {
  const logger = recordingLogger();
  await removeDiscoveryFolder(join(tmpdir(), 'caldera-discovery-never-there'), logger);
  expect(logger.warnings).toEqual([]);
});
