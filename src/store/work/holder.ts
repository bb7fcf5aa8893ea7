import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/** Different for each holder of claims. On Linux it tells other processes of the machine whether the holder's has ended. */
export function nameHolder(pid = process.pid): string {
  try {
    return `${nameMachine()} ${pid} ${findStart(pid)} ${randomUUID()}`;
  } catch {
    return randomUUID();
  }
}

/** Whether the holder's process is known to have ended. Of another machine, boot or container, nothing is known. */
export function isGone(holder: string): boolean {
  const [machine, pid, start] = holder.split(' ');
  try {
    if (start === undefined || machine !== nameMachine()) return false;
    process.kill(Number(pid), 0);
    // Another process may have been given the number since.
    return findStart(Number(pid)) !== start;
  } catch (error) {
    // Files of processes may be hidden from other users.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** The boot of the kernel, and the namespace in which a number means one process. */
function nameMachine(): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
}

/** When the process began, in ticks; undefined for one that has ended and is still in the table (proc(5), stat). */
function findStart(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? undefined : fields[18];
}
