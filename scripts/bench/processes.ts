import { readdirSync, readFileSync } from 'node:fs';

/* What Linux knows of processes, in clock ticks of 10 ms. */

/** Microseconds of CPU of a process alone. */
export function readOwnMicros(pid: number): number {
  return (readStat(pid)?.own ?? 0) * 10_000;
}

/** Microseconds of CPU of a process's children, with those that have ended. */
export function readChildrenMicros(parent: number): number {
  const ticks = listChildren(parent).reduce((sum, pid) => sum + (readStat(pid)?.own ?? 0), 0);
  return (ticks + (readStat(parent)?.ended ?? 0)) * 10_000;
}

/** The most memory that a process and its children have had together so far, in megabytes. */
export function readPeakMegabytes(pid: number): number {
  const peaks = [pid, ...listChildren(pid)].map(readPeak);
  return peaks.reduce((sum, peak) => sum + peak, 0);
}

/** undefined when there is no such process. */
export function findParent(pid: number): number | undefined {
  return readStat(pid)?.parent;
}

function listChildren(parent: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.map(Number).filter((pid) => readStat(pid)?.parent === parent);
}

/** 0 when the process has ended. */
function readPeak(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
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
