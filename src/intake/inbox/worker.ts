import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../store/engine/database.ts';
import {
  type ClaimedMail,
  claimMails,
  failMails,
  type Holder,
  releaseMails,
  renewClaims,
} from '../../store/inbox/claims.ts';
import { finishMails } from '../../store/inbox/done.ts';
import { trimKept } from '../../store/inbox/room.ts';
import { tidyInbox } from '../../store/inbox/tidy.ts';
import type { ParserProcess } from '../parser/parser-process.ts';
import { type ReadMails, readMails } from './read-mails.ts';

/** What is in memory at once: so many mails, with so many bytes together, or one larger mail. */
const MAILS_AT_ONCE = 64;
const BYTES_AT_ONCE = 8 * 1024 * 1024;
/** How long a claim lasts when its worker is killed. */
const CLAIM_MS = 120_000;
/** How often a worker looks for mails that another process has stored. */
const POLL_MS = 5_000;
/** The pause after a fault of our own: without it, all mails would use up their tries at once. */
const REST_MS = 10_000;
const TIDY_MS = 3_600_000;
const TRIM_MS = 60_000;
/** The reading process takes memory. It ends when nothing has come in for this time. */
const IDLE_MS = 60_000;

interface InboxWorkerDeps {
  readonly db: Db;
  readonly now: () => Date;
  /** Reads in a process of its own: nothing is parsed in a process that serves. */
  readonly parser: ParserProcess;
  /** Evaluates alerts, and gives accounts the domains that are theirs, after reports were stored. */
  readonly afterStored: (read: Pick<ReadMails, 'stored' | 'unclaimed'>) => Promise<void>;
  readonly logError: (error: unknown, message: string) => void;
  readonly claimMs?: number;
  readonly pollMs?: number;
  readonly restMs?: number;
}

export interface InboxWorker {
  /** Looks at once for a mail that was just stored. */
  wake(): void;
  /** Begins no further mail, waits for the one that is being read, and gives the others back. */
  stop(): Promise<void>;
}

/** Reads the mails of the inbox, a few at a time. Any number of workers can share one inbox. */
export function startInboxWorker(given: InboxWorkerDeps): InboxWorker {
  const { parser, logError, pollMs = POLL_MS, restMs = REST_MS } = given;
  const holder: Holder = { id: randomUUID(), claimMs: given.claimMs ?? CLAIM_MS };
  const stopping = new AbortController();
  const { signal } = stopping;
  let [waking, isWoken] = [new AbortController(), false];
  let [tidiedAt, trimmedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let readAt = performance.now();

  const rest = async (ms: number) => {
    waking = new AbortController();
    const either = AbortSignal.any([signal, waking.signal]);
    // A mail may have been stored since the worker looked.
    if (!isWoken) await sleep(ms, undefined, { signal: either }).catch(() => undefined);
    isWoken = false;
  };
  const tidy = async () => {
    if (performance.now() - trimmedAt >= TRIM_MS) {
      trimmedAt = performance.now();
      await trimKept(given.db);
    }
    if (performance.now() - tidiedAt < TIDY_MS) return;
    tidiedAt = performance.now();
    await tidyInbox(given.db);
  };
  const workOnce = async () => {
    const step = await readSome({ ...given, holder, signal });
    if (step !== 'idle') readAt = performance.now();
    else if (performance.now() - readAt > IDLE_MS) await parser.close();
    await tidy();
    if (step === 'idle') await rest(pollMs);
    if (step === 'failed') await sleep(restMs, undefined, { signal }).catch(() => undefined);
  };
  const working = (async () => {
    while (!signal.aborted)
      await workOnce().catch(async (error: unknown) => {
        logError(error, 'the inbox could not be read');
        await sleep(restMs, undefined, { signal }).catch(() => undefined);
      });
  })();
  return {
    wake: () => {
      isWoken = true;
      waking.abort();
    },
    stop: async () => {
      stopping.abort();
      await working;
      await parser.close();
    },
  };
}

interface Working extends InboxWorkerDeps {
  readonly holder: Holder;
  readonly signal?: AbortSignal;
}

/** Claims some mails, reads them, and records what became of them. */
async function readSome(working: Working): Promise<'idle' | 'read' | 'failed'> {
  const { db, holder } = working;
  const wanted = { holder, mails: MAILS_AT_ONCE, bytes: BYTES_AT_ONCE };
  const mails = await claimMails(db, wanted);
  if (mails.length === 0) return 'idle';
  return await readClaimed(working, mails);
}

/** Reads mails that this holder has claimed. */
export async function readClaimed(
  working: Working,
  mails: readonly ClaimedMail[],
): Promise<'read' | 'failed'> {
  const stopRenewing = keepClaims(working, mails);
  try {
    const read = await readMails(working, mails, working.signal);
    await settle(working, read);
    return 'error' in read ? 'failed' : 'read';
  } finally {
    stopRenewing();
  }
}

/**
 * Alerts come before the record that a mail is done, so that they are evaluated even when the process is killed
 * in between: the mail is then read again.
 */
async function settle(working: Working, read: ReadMails): Promise<void> {
  const { db, holder, logError } = working;
  const { done, unread } = read;
  await working.afterStored(read).catch((error: unknown) => {
    // The hourly evaluation makes up for it. The reports are stored.
    logError(error, 'alerts could not be evaluated');
  });
  if (done.length > 0) await finishMails(db, holder, done);
  if (unread.length === 0) return;
  if (!('error' in read)) return await releaseMails(db, holder, toSeqs(unread));
  logError(read.error, `${unread.length} mails could not be read`);
  const { error } = read;
  const why = error instanceof Error ? error.message : String(error);
  await failMails(db, holder, { mails: unread, error: why });
}

/** Renews claims until the returned function is called. */
function keepClaims({ db, holder, logError }: Working, mails: readonly ClaimedMail[]): () => void {
  const renew = () =>
    renewClaims(db, holder, toSeqs(mails)).catch((error: unknown) =>
      logError(error, 'claims of mails could not be renewed'),
    );
  const timer = setInterval(renew, holder.claimMs / 4);
  return () => clearInterval(timer);
}

const toSeqs = (mails: readonly ClaimedMail[]): number[] => mails.map(({ seq }) => seq);
