import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ClaimedMail,
  claimMails,
  endClaimsOfGone,
  type Holder,
  releaseMails,
  renewClaims,
  toSeqs,
} from '../../store/inbox/claims.ts';
import { failMails, finishMails, postponeMails } from '../../store/inbox/results.ts';
import { nameHolder } from '../../store/work/holder.ts';
import { keepRunning } from '../../store/work/running.ts';
import type { IngestDeps } from '../ingest.ts';
import type { Parser } from '../parser/parser.ts';
import type { ParserProcess } from '../parser/parser-process.ts';
import type { VerifyMails } from '../verification/verifier.ts';
import { type ReadMails, type ReadMailsDeps, readMails } from './read-mails.ts';

/**
 * What is in memory at once: so many mails, with so many bytes together, or one larger mail. As many as are stored
 * together (`ingest.ts`): the more of a domain are stored at once, the less others wait for it.
 */
const CLAIM = { mails: 200, bytes: 2 * 1024 * 1024 };
/** How long a claim lasts when its worker is killed. */
const CLAIM_MS = 120_000;
/** How often a worker looks for mails that another process has stored. */
const POLL_MS = 5_000;
/** The pause after the last mail that waited, in which others come: claims, alerts and results cost less for many. */
const GATHER_MS = 200;
/** How long a mail may go on being read when the process stops. */
const STOP_MS = 5_000;
/** The pause after a fault of our own: without it, all mails would use up their tries at once. */
const REST_MS = 10_000;
/** When mails are tried again for which DNS had no answer: all those of a sender whose DNS is down together. */
const UNVERIFIED_PAUSE_MS = 300_000;
/** The parser's process takes memory. It ends when nothing has come in for this time. */
const IDLE_MS = 60_000;

interface ReadDeps extends Pick<IngestDeps, 'db' | 'now' | 'keptFrom'> {
  /** Evaluates alerts, and gives accounts the domains that are theirs, after reports were stored. */
  readonly afterStored: (read: Pick<ReadMails, 'stored' | 'unclaimed'>) => Promise<void>;
  readonly logError: (error: unknown, message: string) => void;
  /** One that parses nothing in this process, when it serves. */
  readonly parser: ParserProcess;
  readonly verify?: VerifyMails | undefined;
  readonly observe?: ReadMailsDeps['observe'];
  readonly logDone?: (done: Parameters<typeof finishMails>[2][number]) => void;
}

/** Reads the mails of the inbox, a few at a time. Any number of workers can share one inbox. */
export function startInboxWorker(
  deps: ReadDeps & {
    readonly claimMs?: number;
    readonly pollMs?: number;
    readonly restMs?: number;
    readonly stopMs?: number;
  },
) {
  const { db, parser, logError, pollMs = POLL_MS, restMs = REST_MS, stopMs = STOP_MS } = deps;
  const holder: Holder = { id: nameHolder(), claimMs: deps.claimMs ?? CLAIM_MS };
  /** Aborted when a mail is stored after the worker began to look. */
  let waking = new AbortController();
  let readAt = performance.now();
  let isIdle = true;

  const claim = async () => {
    // A report can take more space than its mail.
    if ((await db.findShortage()) !== undefined) return { mails: [], isAll: true };
    if (isIdle) await endClaimsOfGone(db);
    return await claimMails(db, { holder, ...CLAIM });
  };
  const workOnce = async (signal: AbortSignal) => {
    waking = new AbortController();
    const { mails, isAll } = await claim();
    isIdle = mails.length === 0;
    const isRead = mails.length > 0 && (await readClaimed({ ...deps, holder, signal }, mails));
    if (mails.length > 0) readAt = performance.now();
    else if (performance.now() - readAt > IDLE_MS) await parser.close();
    const pauseMs = isAll ? GATHER_MS : 0;
    if (mails.length > 0) return isRead ? pauseMs : restMs;
    const woken = AbortSignal.any([signal, waking.signal]);
    await sleep(pollMs, undefined, { signal: woken }).catch(() => undefined);
    return 0;
  };
  const working = keepRunning(
    (signal) => () =>
      workOnce(signal).catch((error: unknown) => {
        logError(error, 'the inbox could not be read');
        return restMs;
      }),
  );
  return {
    /** Looks at once for a mail that was just stored. Each abort makes an error with its stack. */
    wake: () => waking.signal.aborted || waking.abort(),
    /** Begins no further mail, waits a little for the one that is being read, and gives the others back. */
    stop: async () => {
      const killing = setTimeout(() => parser.kill(), stopMs);
      await working.stop();
      clearTimeout(killing);
      await parser.close();
    },
  };
}

interface ReadClaimedDeps extends Omit<ReadDeps, 'parser'> {
  readonly parser: Parser;
  readonly holder: Holder;
  readonly signal?: AbortSignal;
}

/** Returns false when a fault of our own kept some of the mails from being read. */
async function readClaimed(deps: ReadClaimedDeps, mails: readonly ClaimedMail[]) {
  const stopRenewing = keepClaims(deps, mails);
  try {
    const read = await readMails(deps, mails);
    await record(deps, read);
    return !('error' in read);
  } finally {
    stopRenewing();
  }
}

/** Alerts come before the record, so that they are evaluated when a kill in between makes the mail be read again. */
async function record(deps: ReadClaimedDeps, read: ReadMails): Promise<void> {
  const { db, holder, logError } = deps;
  const { done, unread, postponed, unverified } = read;
  await deps.afterStored(read).catch((error: unknown) => {
    // The hourly evaluation makes up for it. The reports are stored.
    logError(error, 'alerts could not be evaluated');
  });
  if (done.length > 0) await finishMails(db, holder, done);
  for (const one of done) deps.logDone?.(one);
  if (postponed.length > 0) await postponeMails(db, holder, toSeqs(postponed));
  if (unverified.length > 0)
    await releaseMails(db, holder, { mails: unverified, pauseMs: UNVERIFIED_PAUSE_MS });
  if (unread.length === 0) return;
  if (!('error' in read)) return await releaseMails(db, holder, { mails: unread });
  const { error } = read;
  logError(error, `${unread.length} mails could not be read`);
  const why = error instanceof Error ? error.message : String(error);
  await failMails(db, holder, { mails: unread, error: why });
}

function keepClaims({ db, holder, logError }: ReadClaimedDeps, mails: readonly ClaimedMail[]) {
  const renew = () =>
    renewClaims(db, holder, toSeqs(mails)).catch((error: unknown) =>
      logError(error, 'claims of mails could not be renewed'),
    );
  const timer = setInterval(renew, holder.claimMs / 4);
  return () => clearInterval(timer);
}
