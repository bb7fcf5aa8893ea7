import { readdirSync, readFileSync } from 'node:fs';

/* What Linux knows of processes, in clock ticks of 10 ms. */

/** Microseconds of CPU of a process alone. */
export function readOwnMicros(pid: number): number {
  return (readStat(pid)?.own ?? 0) * 10_000;
}

/** Microseconds of CPU of a process's children, with those that have ended. */
export function readChildrenMicros(parent: number): number {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = all.map(Number).map(readStat);
  const ticks = children.reduce((sum, stat) => sum + (stat?.parent === parent ? stat.own : 0), 0);
  return (ticks + (readStat(parent)?.ended ?? 0)) * 10_000;
}

/** The most memory that a process and each of its children have had, in megabytes. */
export function readPeaks(pid: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = all.map(Number).filter((one) => readStat(one)?.parent === pid);
  return [pid, ...children].map((one) => {
    const [, kibibytes] =
      /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${one}/status`, 'latin1')) ?? [];
    return Number(kibibytes) / 1_024;
  });
}

/** undefined when there is no such process. */
export function findParent(pid: number): number | undefined {
  return readStat(pid)?.parent;
}

function readStat(pid: number) {
  try {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ');
    const [, parent = 0, ...fields] = rest.split(' ').map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(9, 13);
    return { parent, own: user + system, ended: endedUser + endedSystem };
  } catch {
    return undefined;
  }
}
