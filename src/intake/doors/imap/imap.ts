import { setTimeout as sleep } from 'node:timers/promises';
import { type DoorFault, StoreFault, toDoorFault } from './fault.ts';
import { Fetches } from './fetches.ts';
import { IMAP_DOOR, type ImapGiven } from './imap-door.ts';
import { IMAP_LIMITS, type ImapLimits } from './limits.ts';
import type { ImapOptions } from './options.ts';
import { runSession } from './session.ts';

/**
 * Reads a mailbox until the signal is aborted, and connects again whenever the connection ends. Only one process may
 * read a mailbox at a time; two would do no harm, but each mail would be fetched twice. Never throws.
 */
export async function readMailbox(
  options: ImapOptions,
  given: ImapGiven,
  signal: AbortSignal,
): Promise<void> {
  const limits = { ...IMAP_LIMITS, ...options.limits };
  const fetches = new Fetches(limits);
  for (let failures = 0; !signal.aborted; failures += 1) {
    const onProgress = () => {
      failures = 0;
    };
    const onWorking = () => {
      failures = 0;
      return given.noteDoor(IMAP_DOOR);
    };
    try {
      await runSession(options, { ...given, limits, fetches, signal, onProgress, onWorking });
    } catch (error) {
      if (signal.aborted) return;
      await waitAfter(toDoorFault(error, options.host), { failures, limits, given, signal });
    }
  }
}

interface Failed {
  /** In a row, before this one. */
  readonly failures: number;
  readonly limits: ImapLimits;
  readonly given: ImapGiven;
  readonly signal: AbortSignal;
}

/** Servers end connections now and then; only what lasts is a fault of the door. */
async function waitAfter(
  fault: DoorFault,
  { failures, limits, given, signal }: Failed,
): Promise<void> {
  const { log, noteDoor } = given;
  const first = fault.isRefused ? limits.refusedRetryMs : limits.firstRetryMs;
  const waitMs = Math.min(limits.maxRetryMs, first * 2 ** Math.min(failures, 20));
  log.warn({ door: IMAP_DOOR, retry_ms: waitMs }, `imap: ${fault.message}`);
  if (failures > 0 || fault.isRefused || fault instanceof StoreFault)
    await noteDoor(IMAP_DOOR, fault.message).catch((error: unknown) => log.error({ err: error }));
  // Between half the time and the whole: many clients of a server that restarts do not come at once.
  await sleep(waitMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
}
