import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { OWNER_VARIABLE } from '../policy/spawn-policy.ts';

/** In the environment of a guard, and of nothing else. */
export const GUARD_VARIABLE = 'CALDERA_GUARD=';

/** How long a guard that was told to quit may take; after a crash of the host it needs about half a second. */
const QUIT_MS = 1000;
/** A guard that somebody else ends is started again, a few times. */
const RESTARTS = 3;

/**
 * The guard's program. It reads `+pid start`, `-pid` and `quit`; the end of the pipe means that the host is gone, however that
 * went. Then it ends what it has been told of, each pid only while it has the start time it was told with, with its group when
 * it leads one; and then whatever carries the owner mark, until nothing is left. Written for
 * dash and busybox (`kill -9 -$pid`, no arrays); until the end it starts no process of its own.
 */
const SCRIPT = `
trap '' INT TERM HUP QUIT PIPE
list=' '
drop() {
  case $list in
    *" $1:"*)
      after=\${list#*" $1:"}
      list="\${list%%" $1:"*} \${after#* }" ;;
  esac
}
# The start time and the group of a process; neither when it is gone.
look() {
  start= group= line=
  { read -r line < "/proc/$1/stat"; } 2>/dev/null || return 1
  set -- \${line##*) }
  group=$3 start=\${20}
}
send() {
  for entry in $list; do
    pid=\${entry%%:*} told=\${entry#*:}
    if [ "$told" = 0 ]; then kill "-$1" "-$pid" 2>/dev/null || kill "-$1" "$pid" 2>/dev/null; continue; fi
    look "$pid" && [ "$start" = "$told" ] || continue
    if [ "$group" = "$pid" ]; then kill "-$1" "-$pid"; else kill "-$1" "$pid"; fi 2>/dev/null
  done
}
while read -r what start; do
  case $what in
    +*) drop "\${what#+}"; list="$list\${what#+}:$start " ;;
    -*) drop "\${what#-}" ;;
    quit) exit 0 ;;
  esac
done
if [ "$list" != ' ' ]; then send TERM; fi
marked() { grep -lsF "$1" /proc/[0-9]*/environ; }
for file in $(marked "$1"); do pid=\${file#/proc/}; kill -TERM "\${pid%/environ}"; done 2>/dev/null
sleep 0.3
send KILL
round=0
while [ "$round" -lt 100 ]; do
  found=$(marked "$1")
  [ -n "$found" ] || break
  for file in $found; do pid=\${file#/proc/}; kill -KILL "\${pid%/environ}"; done 2>/dev/null
  round=$((round + 1))
  [ "$round" -lt 5 ] || sleep 0.1
done
exit 0
`;

export interface GuardOptions {
  readonly ownerMark: string;
  readonly onProblem: (what: string) => void;
}

/**
 * A shell in a session of its own, the one child process of the main thread. It outlives the host by the moment that it takes
 * to end every process of the host, also when the host was killed and could do nothing itself. None on Windows.
 */
export class ProcessGuard {
  readonly #options: GuardOptions;
  readonly #processes = new Map<number, number>();
  #shell: ChildProcess | undefined;
  #restarts = 0;
  #closed = false;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#shell?.pid;
  }

  /** Early, while the host is small: a spawn from a process of 1 GB stalls main for 14–21 ms. Idempotent. */
  start(): void {
    if (this.#shell || this.#closed || process.platform === 'win32') return;
    const shell = spawn('/bin/sh', ['-c', SCRIPT, 'caldera-guard', `${OWNER_VARIABLE}=${this.#options.ownerMark}`], {
      cwd: '/',
      // Without the mark, which the guard would find in itself.
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', CALDERA_GUARD: '1' },
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    shell.on('error', (error) => this.#options.onProblem(`the guard could not be started: ${error.message}`));
    // Then its streams may be missing, too.
    if (shell.pid === undefined) return;
    this.#shell = shell;
    shell.unref();
    // A pipe that nothing waits for must not keep the host's process.
    if (shell.stdin instanceof Socket) shell.stdin.unref();
    shell.stdin.on('error', () => {});
    shell.on('exit', () => this.#ended(shell));
    for (const [pid, start] of this.#processes) this.#write(`+${pid} ${start}`);
  }

  add(pid: number, start: number | undefined): void {
    this.#processes.set(pid, start ?? 0);
    this.#write(`+${pid} ${start ?? 0}`);
  }

  remove(pid: number): void {
    if (this.#processes.delete(pid)) this.#write(`-${pid}`);
  }

  /** The host has ended everything itself. Resolves when the guard is gone. */
  async quit(): Promise<void> {
    this.#closed = true;
    const shell = this.#shell;
    if (!shell || shell.exitCode !== null || shell.signalCode !== null || shell.pid === undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        shell.kill('SIGKILL');
        resolve();
      }, QUIT_MS);
      shell.once('exit', () => {
        clearTimeout(timer);
        resolve();
      });
      shell.ref();
      shell.stdin?.end('quit\n');
    });
  }

  /** Closes the pipe as the end of the host's process would. */
  abandon(): void {
    this.#closed = true;
    this.#shell?.stdin?.end();
  }

  #write(line: string): void {
    if (!this.#closed) this.#shell?.stdin?.write(`${line}\n`);
  }

  #ended(shell: ChildProcess): void {
    if (this.#closed || shell !== this.#shell) return;
    this.#shell = undefined;
    if (this.#restarts >= RESTARTS) {
      this.#options.onProblem('the guard was ended too often; processes may stay when this host is killed');
      return;
    }
    this.#restarts += 1;
    this.start();
  }
}
