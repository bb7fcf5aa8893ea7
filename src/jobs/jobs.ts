import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { evaluate } from '../alerts/evaluate.ts';
import { evaluateShard } from '../alerts/evaluate-shard.ts';
import type { Config } from '../config/config.ts';
import { nameShard } from '../dns/name-watch.ts';
import { createLookUp } from '../dns/record-lookup.ts';
import { checkShard } from '../dns/record-watch.ts';
import { createNameLookUp } from '../dns/reverse-lookup.ts';
import type { Store } from '../store/engine/open.ts';
import { sumShard } from '../store/sources/sum-shard.ts';
import { createLeases } from '../store/work/leases.ts';
import { SHARDS } from '../store/work/shards.ts';
import { startInbox } from './inbox.ts';
import { startMailDoors } from './mail-doors.ts';
import type { Running } from './running.ts';
import { type SharedJob, startSharedJob } from './shared-job.ts';

const HOUR_MS = 3_600_000;
/** A process that works alone begins a shard whenever this has passed, and has done all within the hour. */
const DNS_PACE_MS = HOUR_MS / SHARDS.length;

interface Given {
  readonly store: Store;
  readonly log: Logger;
}

export interface Jobs extends Running {
  readonly names: readonly string[];
}

/** Starts everything that Plumbline does by itself: what `work` does, and `serve` beside answering requests. */
export function startJobs(config: Config, { store, log }: Given): Jobs {
  const logError = (error: unknown) => log.error({ err: error }, 'work failed');
  const leases = createLeases({ store, holder: randomUUID() });
  const jobs = listSharedJobs(config, { store, log });
  const running: readonly Running[] = jobs.map((job) => startSharedJob(job, { leases, logError }));
  // Mails are claimed one by one, and files by their keys, so the inbox needs no lease.
  const inbox = startInbox(config, { store, log });
  const mail = startMailDoors(config, { store, log, deliver: inbox.deliver, leases });
  return {
    names: [...jobs.map(({ name }) => name), ...inbox.names, ...mail.names],
    stop: async () => {
      // A door that stops may still deliver, and wakes the worker of the inbox.
      await mail.stop();
      await Promise.all([...running, inbox].map(({ stop }) => stop()));
    },
  };
}

function listSharedJobs(
  { alertThresholds: thresholds, dnsChecks, dnsServers }: Config,
  { store, log }: Given,
): readonly SharedJob[] {
  const logError = (error: unknown) => log.error({ err: error }, 'alerts could not be evaluated');
  const given = { store, thresholds, now: () => new Date(), logError };
  const alerts: SharedJob = {
    name: 'alerts',
    everyMs: HOUR_MS,
    run: (turn) => evaluateShard(given, turn),
  };
  const sums = sumSources({ store, log });
  if (!dnsChecks) return [alerts, sums];
  // A little less than the pace, so that claims and releases do not add up to a longer hour.
  const watching = {
    ...given,
    lookUp: createLookUp(dnsServers),
    evaluate: (domainId: string) => evaluate(given, [domainId]),
    overMs: 0.9 * DNS_PACE_MS,
  };
  const dns: SharedJob = {
    name: 'dns',
    everyMs: HOUR_MS,
    paceMs: DNS_PACE_MS,
    run: (turn) => checkShard(watching, turn),
  };
  return [alerts, sums, dns, lookUpNames(dnsServers, { store, log })];
}

function lookUpNames(dnsServers: readonly string[], { store, log }: Given): SharedJob {
  const logError = (error: unknown) => log.error({ err: error }, 'names could not be looked up');
  const lookUpName = createNameLookUp(dnsServers);
  const given = { store, lookUpName, now: () => new Date(), logError };
  return { name: 'names', everyMs: HOUR_MS, run: (turn) => nameShard(given, turn) };
}

function sumSources({ store, log }: Given): SharedJob {
  const logError = (error: unknown) => log.error({ err: error }, 'sources could not be summed');
  const given = { store, now: () => new Date(), logError };
  return { name: 'sums', everyMs: HOUR_MS, run: (turn) => sumShard(given, turn) };
}
