import { setTimeout as sleep } from 'node:timers/promises';
import type { DoorName } from '../../../domain/incoming.ts';
import { type MailboxConnection, withConnection } from './connection.ts';
import { type DoorFault, StoreFault, toDoorFault, toRetryMs } from './fault.ts';
import { Fetches } from './fetches.ts';
import { MailboxReading, type MailboxReadingDeps } from './mailbox-reading.ts';
import { IMAP_LIMITS, type ImapDeps, type ImapOptions } from './options.ts';

/**
 * Reads a mailbox until the signal is aborted, and connects again whenever the connection ends. Only one process may
 * read a mailbox at a time; two would do no harm, but each mail would be fetched twice. Never throws.
 */
export async function readMailbox(
  options: ImapOptions,
  deps: ImapDeps,
  signal: AbortSignal,
): Promise<void> {
  const { door } = options;
  const limits = { ...IMAP_LIMITS, ...options.limits };
  let failures = 0;
  const onProgress = () => {
    failures = 0;
  };
  const readingDeps = { ...deps, limits, fetches: new Fetches(limits), signal, onProgress };
  const reading = new MailboxReading(options, readingDeps);
  for (; !signal.aborted; failures += 1) {
    try {
      await withConnection(options, readingDeps, (connection) =>
        readAndWait(connection, reading, readingDeps),
      );
    } catch (error) {
      if (signal.aborted) return;
      const fault = toDoorFault(error, options.host);
      const retryMs = toRetryMs(fault, failures, limits);
      deps.log.warn({ door, retry_ms: retryMs }, `${door}: ${fault.message}`);
      await noteFault(fault, { door, failures, deps });
      // Between half the time and the whole: many clients of a server that restarts do not come at once.
      const waitMs = retryMs * (0.5 + Math.random() / 2);
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function readAndWait(
  connection: MailboxConnection,
  reading: MailboxReading,
  { signal, onProgress, noteDoor }: MailboxReadingDeps,
): Promise<void> {
  await reading.resume(connection);
  while (!signal.aborted) {
    await reading.readNew();
    onProgress();
    await noteDoor(reading.door, reading.filing.fault ?? connection.shortfall);
    await connection.wait(reading, signal);
    await reading.fileDone();
  }
}

/** Servers end connections now and then; only what lasts is a fault of the door. */
async function noteFault(
  fault: DoorFault,
  { door, failures, deps }: { door: DoorName; failures: number; deps: ImapDeps },
) {
  const { log, noteDoor } = deps;
  if (failures > 0 || fault.isLasting || fault instanceof StoreFault)
    await noteDoor(door, fault.message).catch((error: unknown) => log.error({ err: error }));
}
