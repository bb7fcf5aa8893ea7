import { constants, getPriority, setPriority } from 'node:os';

const { PRIORITY_BELOW_NORMAL } = constants.priority;

/** Requests to a server go first. A lower priority, from `nice` or systemd, is kept: raising it needs a privilege. */
export function lowerPriority(): void {
  try {
    if (getPriority() < PRIORITY_BELOW_NORMAL) setPriority(PRIORITY_BELOW_NORMAL);
  } catch {
    // Some containers forbid the call. Reports are then read with the priority of this process.
  }
}
