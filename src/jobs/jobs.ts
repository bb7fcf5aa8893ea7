import { randomUUID } from 'node:crypto';
import { evaluate, evaluateShard } from '../alerts/evaluate.ts';
import type { Config } from '../config/config.ts';
import { createSealings } from '../config/secrets-key.ts';
import { checkSendersShard, checkTlsShard } from '../dns/daily-watch.ts';
import { nameShard } from '../dns/name-watch.ts';
import { checkShard, createLookUp } from '../dns/record-watch.ts';
import { createHostLookUp } from '../dns/resolver.ts';
import { createNameLookUp } from '../dns/reverse-lookup.ts';
import { lookUpSenderRecords } from '../dns/sender-records-lookup.ts';
import { checkTls } from '../dns/tls-lookup.ts';
import { EVENT_DAYS } from '../domain/events.ts';
import { createWebhookChannel } from '../notify/webhooks/webhook-channel.ts';
import { listReportAddresses } from '../store/accounts/mail-address.ts';
import { requireKey } from '../store/accounts/sealed-secrets.ts';
import { deleteOldEvents } from '../store/events/events.ts';
import { trimKept } from '../store/inbox/room.ts';
import { MAIL_DAYS, tidyInbox } from '../store/inbox/tidy.ts';
import { CHANGE_DAYS, deleteOldChanges } from '../store/lists/changes.ts';
import { correctDue } from '../store/notify/claims.ts';
import { trimUnclaimed } from '../store/reports/aging/unclaimed.ts';
import { finishListings } from '../store/reports/listing.ts';
import { createLeases } from '../store/work/leases.ts';
import type { Running } from '../store/work/running.ts';
import { SHARDS, type ShardRun } from '../store/work/shards.ts';
import { startBackups } from './backups.ts';
import { logGone } from './deleting.ts';
import { startFolderDoor, startImapDoor, startSmtpDoor } from './doors.ts';
import { createNoteRun } from './faults.ts';
import { type InboxDeps, startInbox } from './inbox.ts';
import { type ShardJob, startShardJob, startSingleJob } from './leased-job.ts';
import { startMail, tidyMail } from './mail.ts';
import { startOutbox } from './outbox.ts';
import { prune } from './retention.ts';

const HOUR_MS = 3_600_000;
/** How often domains go on whose reports are still to be listed, after a process that did it was killed. */
const LIST_MS = 60_000;
/** How often what strangers may store is brought back to its bounds. It exceeds them by what comes in meanwhile. */
const TRIM_MS = 300_000;
/** The time from the beginning of one shard to the next, so that one process alone checks all of them in an hour. */
const DNS_PACE_MS = HOUR_MS / SHARDS.length;

/** Starts everything that Plumbline does by itself: what `work` does, and `serve` beside answering requests. */
export function startJobs(config: Config, deps: InboxDeps) {
  const jobs = startEach(config, deps);
  return {
    names: jobs.map(({ name }) => name),
    stop: async () => {
      await Promise.all(jobs.map(({ stop }) => stop()));
    },
  };
}

type Run = (mayGoOn: ShardRun['mayGoOn']) => Promise<boolean>;
type Job = Running & { readonly name: string };

/** Without a key, which PostgreSQL needs a file for, nobody can make a webhook. Those of before cannot be sent, and it fails. */
function startWebhooks(config: Config, deps: InboxDeps): Running {
  const { secretsKeyFile, webhookAllow: allowed, dnsServers, baseUrl } = config;
  const openSealing = secretsKeyFile && createSealings(secretsKeyFile);
  const lookUp = createHostLookUp(dnsServers);
  const open = async () => {
    await requireKey(deps.store.db, openSealing);
    const given = { db: deps.store.db, now: () => new Date(), allowed, lookUp, baseUrl };
    return openSealing && createWebhookChannel({ ...given, openSealing });
  };
  return startOutbox('outbox', open, deps);
}

/** Hourly jobs handle each shard in one process. The inbox and the doors run in every process, except the mailbox. */
function startEach(config: Config, deps: InboxDeps): readonly Job[] {
  const { store, log, metrics } = deps;
  const { alertThresholds: thresholds, dnsChecks, dnsServers, kept } = config;
  const { smtp, mailboxes, backups, mailServer } = config;
  const now = () => new Date();
  const leases = createLeases({ db: store.db, holder: randomUUID() });
  const withLog = (message: string) => ({
    store,
    thresholds,
    now,
    logError: (error: unknown) => log.error({ err: error }, message),
  });
  const noteRun = createNoteRun(store.db, log);
  const logError = (error: unknown, job: string) => noteRun(job, error);
  const leased = { leases, logError, onWell: noteRun, observe: metrics?.observeJob };
  const hourly = (name: string, run: ShardJob['run'], paceMs?: number): Job => ({
    name,
    ...startShardJob({ name, everyMs: HOUR_MS, paceMs, run }, leased),
  });
  const single = (name: string, everyMs: number, run: Run): Job => ({
    name,
    ...startSingleJob({ name, everyMs, run }, leased),
  });
  const observe = metrics?.observeEvaluation;
  const alerts = { ...withLog('alerts could not be evaluated'), observe };
  const dns = {
    ...alerts,
    lookUp: createLookUp(dnsServers),
    evaluate: (domainId: string) => evaluate(alerts, [domainId]),
    // A little less than the pace, so that claims and releases do not add up to a longer hour.
    overMs: 0.9 * DNS_PACE_MS,
  };
  const tls = {
    ...withLog('what DNS says of TLS could not be checked'),
    check: (domain: string, addresses: readonly string[]) =>
      checkTls(dnsServers, { domain, addresses, fetchesPolicy: config.fetchesPolicyFiles }),
    listAddresses: (accountId: string) => listReportAddresses(store.db, accountId, config),
    overMs: dns.overMs,
  };
  const senders = {
    ...withLog('what DNS has for senders could not be checked'),
    lookUp: (names: Parameters<typeof lookUpSenderRecords>[1]) =>
      lookUpSenderRecords(dnsServers, names),
    overMs: dns.overMs,
  };
  const lookUpName = createNameLookUp(dnsServers);
  const names = { ...withLog('names could not be looked up'), lookUpName };
  const deleting = (job: string, why: string, kept: object, run: Parameters<typeof logGone>[2]) =>
    logGone(log, { job, why, kept }, run);
  const trim = deleting(
    'unclaimed',
    'the oldest of what strangers sent was deleted: it is bounded',
    config.unclaimed,
    async (mayGoOn, noteGone) =>
      (await trimKept(store.db, { mayGoOn, noteGone })) &&
      trimUnclaimed(store.db, { ...config.unclaimed, mayGoOn, noteGone }),
  );
  const tidied = 'what was older than it is kept was deleted';
  const pruneOld: Run = async (mayGoOn) => {
    const pruning = { db: store.db, kept, now, mayGoOn };
    const gone = await prune({ ...pruning, backupFolder: backups?.folder });
    if (gone.reports + gone.originals + gone.auditEntries > 0)
      log.info({ job: 'retention', gone, kept }, tidied);
    return await mayGoOn();
  };
  // It throws for a key that is wrong, so it comes before what runs.
  const webhooks = startWebhooks(config, deps);
  // Mails are claimed one by one, and files by their keys, so neither the inbox nor a folder needs a lease.
  const inbox = startInbox(config, deps);
  const doors = { store, log, deliver: inbox.deliver };
  const tidyEvents = deleting(
    'events',
    tidied,
    { eventDays: EVENT_DAYS, mailDays: MAIL_DAYS },
    async (mayGoOn, noteGone) => {
      await tidyInbox(store.db, { noteGone });
      await correctDue(store.db);
      return (
        (await tidyMail({ mailServer, store }, mayGoOn)) &&
        deleteOldEvents(store.db, mayGoOn, noteGone)
      );
    },
  );
  const tidyChanges = deleting(
    'changes',
    tidied,
    { changeDays: CHANGE_DAYS },
    (mayGoOn, noteGone) => deleteOldChanges(store.db, mayGoOn, noteGone),
  );
  const jobs = [
    // Missing reports trigger no ingest.
    hourly('alerts', (run) => evaluateShard(alerts, run)),
    dnsChecks && hourly('dns', (run) => checkShard(dns, run), DNS_PACE_MS),
    dnsChecks && hourly('tls', (run) => checkTlsShard(tls, run), DNS_PACE_MS),
    dnsChecks && hourly('senders', (run) => checkSendersShard(senders, run), DNS_PACE_MS),
    dnsChecks && hourly('names', (run) => nameShard(names, run)),
    single('listing', LIST_MS, (mayGoOn) => finishListings(store.db, mayGoOn)),
    single('unclaimed', TRIM_MS, trim),
    Object.values(kept).some((days) => days !== undefined) &&
      single('retention', HOUR_MS, pruneOld),
    single('events', HOUR_MS, tidyEvents),
    single('changes', HOUR_MS, tidyChanges),
    { name: 'outbox', ...webhooks },
    mailServer && {
      name: 'mail',
      ...startMail(mailServer, { ...config, baseUrl: config.baseUrl ?? '', store, log, metrics }),
    },
    backups !== undefined && {
      name: 'backup',
      ...startBackups({ database: config.database, ...backups, now }, { ...leased, log }),
    },
    // Reads the mails that the doors delivered.
    { name: 'inbox', stop: inbox.stop },
    ...config.watched.map((path) => ({
      name: `folder ${path}`,
      ...startFolderDoor(path, config.watchDone, doors),
    })),
    smtp && { name: `smtp ${smtp.name}:${smtp.port}`, ...startSmtpDoor(smtp, doors) },
    ...mailboxes.map((imap) => ({
      name: `${imap.door} ${imap.user}@${imap.host}/${imap.mailbox}`,
      ...startImapDoor(imap, { ...doors, leases }),
    })),
  ];
  return jobs.filter((job) => job !== false && job !== undefined);
}
