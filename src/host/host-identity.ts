import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pidNamespace, readProcess } from './thread/process-list.ts';

/** Tells one host from every other, two in one process included. */
export interface HostIdentity {
  /** Eight hexadecimal digits, new for each host. */
  readonly nonce: string;
  /** `<pid>:<start>:<nonce>`: in the environment of every thread and process of this host. */
  readonly ownerMark: string;
  /** What {@link threadMark} begins with: the pid namespace in which the owner mark's pid counts, and the nonce. */
  readonly threadPrefix: string;
}

export function createIdentity(): HostIdentity {
  const nonce = randomBytes(4).toString('hex');
  return {
    nonce,
    ownerMark: `${process.pid}:${readProcess('self')?.start ?? 0}:${nonce}`,
    threadPrefix: `${pidNamespace()}:${nonce}`,
  };
}

/** In the environment of one life of a thread and of everything it starts, so that it is found when that life ends. */
export function threadMark({ threadPrefix }: HostIdentity, extension: string, generation: number): string {
  return `${threadPrefix}:${extension}#${generation}`;
}

/** From our own package.json, which lies two folders up from source and from dist alike. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0.0.0';
}
