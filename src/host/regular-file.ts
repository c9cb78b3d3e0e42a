import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';

/** Without O_NONBLOCK a FIFO would hold whoever opens it until somebody writes. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * The bytes of a file that anybody may have put there: a FIFO would block the main thread for ever, and a link to a device
 * would never end. It is looked at before it is opened, which can do something to a device, and after, since it may be
 * another one by then.
 * @throws what it is instead of a file of at most `maxBytes`, or the error of the system (`ENOENT`)
 */
export function readRegularFile(file: string, maxBytes: number): Buffer {
  check(statSync(file), maxBytes);
  const descriptor = openSync(file, FLAGS);
  try {
    check(fstatSync(descriptor), maxBytes);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The same, off the main thread. */
export async function loadRegularFile(file: string, maxBytes: number): Promise<Buffer> {
  check(await stat(file), maxBytes);
  const handle = await open(file, FLAGS);
  try {
    check(await handle.stat(), maxBytes);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

function check(stats: Stats, maxBytes: number): void {
  if (!stats.isFile()) throw new Error('it is no regular file');
  if (stats.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
}
