import * as z from 'zod';

/** Every limit of the host, with its unit in its name. `new ExtensionHost({ limits })` sets any of them. */
export interface Limits {
  /** One protocol line from a server. A longer one fails that call alone; longer ones can abort the process inside JSON.parse. */
  readonly lineBytes: number;
  /** Lines of text in one result; the head is kept and one note says what was cut. */
  readonly textLines: number;
  /** Bytes (UTF-8) of text in one result. */
  readonly textBytes: number;
  /** One image, decoded. */
  readonly imageBytes: number;
  /** Images in one result; those after it are named, not sent. */
  readonly imagesPerResult: number;
  /** All images of one result, decoded. */
  readonly imagesBytes: number;
  /** Width and height of an image, in pixels. */
  readonly imageSidePixels: number;
  /** `details` of one result as JSON; over it they are replaced whole by a note. */
  readonly detailsBytes: number;
  /** `structuredContent` of one result as JSON; over it it is replaced whole by a note. */
  readonly structuredBytes: number;
  /** Nesting of anything that crosses the boundary, schemas included. */
  readonly jsonDepth: number;
  /** A tool's description. */
  readonly descriptionBytes: number;
  /** One tool descriptor as JSON; over it that tool is quarantined. */
  readonly toolBytes: number;
  /** Tools of one extension in one session. */
  readonly toolsPerExtension: number;
  /** All tool descriptors of one extension as JSON. */
  readonly toolTableBytes: number;
  /** Lossy notes (log, progress, status, notify) a second and thread; over it they are dropped and counted. */
  readonly notesPerSecond: number;
  /** Log text a second and thread. */
  readonly logBytesPerSecond: number;
  /** Notes that are never dropped (processes, commits, messages, failures) a second and thread; over it the thread is ended. */
  readonly losslessNotesPerSecond: number;
  /** The same in bytes. */
  readonly losslessBytesPerSecond: number;
  /** Last lines of a server's stderr that errors and /mcp show. */
  readonly stderrTailLines: number;
  /** The same in bytes. */
  readonly stderrTailBytes: number;
  /** Log records of a server's stderr a second; then one that says how many lines were dropped. */
  readonly stderrLogLinesPerSecond: number;
  /** A factory that has not ended by then has failed for that session. */
  readonly factoryMs: number;
  /** Loading an extension's file, and starting its thread. */
  readonly loadMs: number;
  /** Wall time of one `callTool`, everything included. 0 = none. */
  readonly callTimeoutMs: number;
  /** One event handler; `session_shutdown` handlers may ask for more. */
  readonly eventHandlerMs: number;
  /** One `runCommand`. */
  readonly commandMs: number;
  /** Host requests of one thread that are in flight at once; more wait in the thread. */
  readonly hostRequestsInFlight: number;
  /** Host requests that may wait in a thread; one more rejects with `HOST_BUSY`. */
  readonly hostRequestsQueued: number;
  /** Questions to the person and to the model (`ctx.ui`, `ctx.sample`) of one session that are open at once; one more rejects with `HOST_BUSY`. */
  readonly questionsPerSession: number;
  /** How long such a question waits for its answer. */
  readonly questionMs: number;
  /** How long `approve` may take; then the call is denied. */
  readonly approvalMs: number;
  /** How often a thread says that it runs, and how often the host looks. */
  readonly heartbeatMs: number;
  /** A thread that has not come back to its event loop for so long is named in the log. */
  readonly stallWarnMs: number;
  /** Then it is ended with `THREAD_STALLED`. Only time in which the main thread itself was punctual counts. */
  readonly stallMs: number;
  /** Heap and external memory (Buffers) of a thread that are still held after a collection; over it `THREAD_MEMORY`. */
  readonly softMemoryMb: number;
  /** V8's old generation of a thread: a far backstop, since a low limit can abort the host. */
  readonly oldGenerationMb: number;
  /** Waits before a dead thread is started again: first, second, third death and so on; the last one repeats. */
  readonly restartBackoffMs: readonly number[];
  /** So many deaths within `crashLoopWindowMs` end the restarts until `reload`. */
  readonly crashLoopDeaths: number;
  readonly crashLoopWindowMs: number;
  /** Objects, strings and code of one sandboxed instance. A manifest can ask for less. */
  readonly sandboxMemoryMb: number;
  /** CPU time of one call of a sandboxed extension. */
  readonly sandboxCpuMs: number;
  /** Wall time of the same. */
  readonly sandboxCallMs: number;
  /** One result of a sandboxed extension as JSON. */
  readonly sandboxResultBytes: number;
  /** Linear memory of all sandboxed instances of the host; above it a new session goes without its sandboxed extensions. */
  readonly sandboxTotalMb: number;
}

/** The defaults. `docs/configuration.md` has them with the reasons. */
export const DEFAULT_LIMITS: Limits = {
  lineBytes: 16 * 1024 * 1024,
  textLines: 2000,
  textBytes: 50 * 1024,
  imageBytes: 5 * 1024 * 1024,
  imagesPerResult: 8,
  imagesBytes: 10 * 1024 * 1024,
  imageSidePixels: 8000,
  detailsBytes: 256 * 1024,
  structuredBytes: 256 * 1024,
  jsonDepth: 64,
  descriptionBytes: 16 * 1024,
  toolBytes: 256 * 1024,
  toolsPerExtension: 2000,
  toolTableBytes: 4 * 1024 * 1024,
  notesPerSecond: 2000,
  logBytesPerSecond: 4 * 1024 * 1024,
  losslessNotesPerSecond: 10_000,
  losslessBytesPerSecond: 16 * 1024 * 1024,
  stderrTailLines: 20,
  stderrTailBytes: 8 * 1024,
  stderrLogLinesPerSecond: 50,
  factoryMs: 30_000,
  loadMs: 15_000,
  callTimeoutMs: 900_000,
  eventHandlerMs: 2000,
  commandMs: 60_000,
  hostRequestsInFlight: 64,
  hostRequestsQueued: 4096,
  questionsPerSession: 8,
  questionMs: 300_000,
  approvalMs: 300_000,
  heartbeatMs: 250,
  stallWarnMs: 1000,
  stallMs: 5000,
  softMemoryMb: 512,
  oldGenerationMb: 2048,
  restartBackoffMs: [0, 1000, 4000, 16_000],
  crashLoopDeaths: 5,
  crashLoopWindowMs: 300_000,
  sandboxMemoryMb: 32,
  sandboxCpuMs: 1000,
  sandboxCallMs: 10_000,
  sandboxResultBytes: 64 * 1024,
  sandboxTotalMb: 512,
};

/** Limits that may be 0; every other one must be positive. */
const MAY_BE_ZERO: ReadonlySet<string> = new Set<keyof Limits>(['callTimeoutMs', 'imagesPerResult']);

/** The limits a host runs with, or every problem with what was given. */
export function resolveLimits(given: Partial<Limits> = {}): { limits: Limits; problems: readonly string[] } {
  const problems: string[] = [];
  const limits: Record<string, unknown> = { ...DEFAULT_LIMITS };
  for (const [name, value] of Object.entries(given)) {
    if ((value as unknown) === undefined) continue;
    const problem = problemOf(name, value);
    if (problem) problems.push(`limits.${name}: ${problem}`);
    else limits[name] = value;
  }
  return { limits: limits as unknown as Limits, problems };
}

const Milliseconds = z.array(z.number().nonnegative()).min(1);

function problemOf(name: string, value: unknown): string | undefined {
  if (!Object.hasOwn(DEFAULT_LIMITS, name))
    return `no such limit (there are ${Object.keys(DEFAULT_LIMITS).join(', ')})`;
  if (name === 'restartBackoffMs') {
    return Milliseconds.safeParse(value).success ? undefined : 'must be a list of milliseconds with at least one entry';
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
  const least = MAY_BE_ZERO.has(name) ? 0 : 1;
  return value < least ? `must be at least ${least}` : undefined;
}
