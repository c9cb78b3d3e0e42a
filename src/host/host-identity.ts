import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { startTime } from './thread/process-table.ts';

/** Tells one host from every other, two in one process included. */
export interface HostIdentity {
  /** Eight hexadecimal digits, new for each host. */
  readonly nonce: string;
  /** `<pid>:<start>:<nonce>`: in the environment of every thread and process of this host. */
  readonly ownerMark: string;
}

export function createIdentity(): HostIdentity {
  const nonce = randomBytes(4).toString('hex');
  return { nonce, ownerMark: `${process.pid}:${startTime('self') ?? 0}:${nonce}` };
}

/** From our own package.json, which lies two folders up from source and from dist alike. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0.0.0';
}
