/** One line of `/proc/<pid>/stat`. A pid together with its start time is never reused. */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since the system started. */
  readonly start: number;
  /** It has ended and waits to be reaped. */
  readonly zombie: boolean;
}

/** proc_pid_stat(5). The program's name stands in brackets and may hold anything, so fields are counted from the last one. */
export function parseProcessStat(text: string): ProcessStat | undefined {
  const pid = Number.parseInt(text, 10);
  const [state, parent, group, session, ...later] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const start = Number(later[15]);
  if (!Number.isInteger(pid) || state === undefined || !Number.isFinite(start)) return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    start,
    zombie: /^[ZX]/.test(state),
  };
}

/**
 * The processes among `all` that belong to `roots`: the roots themselves, what they started however deep, and every member
 * of a group or session that one of these leads.
 */
export function familyOf(all: readonly ProcessStat[], roots: ReadonlySet<number>): readonly ProcessStat[] {
  const family = new Set(roots);
  for (let grown = true; grown; ) {
    grown = false;
    for (const { pid, parent, group, session } of all) {
      if (family.has(pid) || !(family.has(parent) || family.has(group) || family.has(session))) continue;
      family.add(pid);
      grown = true;
    }
  }
  return all.filter(({ pid }) => family.has(pid));
}
