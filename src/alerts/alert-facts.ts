import { findLasting } from '../domain/alerts/alignment-regression.ts';
import type { KnownAlert } from '../domain/alerts/facts.ts';
import type { Views } from '../domain/alerts/occurrences.ts';
import type { AlertFacts } from '../domain/alerts/registry.ts';
import { daysNeeded, type Thresholds } from '../domain/alerts/thresholds.ts';
import { TLS_FAILURES, toTlsDays } from '../domain/alerts/tls-failures.ts';
import {
  addDays,
  BEGIN_OF_TIME,
  type Day,
  hoursBetween,
  type Instant,
  toDay,
} from '../domain/instant.ts';
import type { View } from '../domain/reports/authentication.ts';
import type { DaySource } from '../domain/sources/day-sources.ts';
import { type ReadingStore, readStored } from '../judging/reads.ts';
import type { Counted } from '../judging/summed-range.ts';
import { listDnsRecords, toDnsFacts } from '../store/alerts/dns-records.ts';
import { planReceipts } from '../store/alerts/receipts.ts';
import { knownAlerts, watchedDomain } from '../store/alerts/watched.ts';
import { doubtfulTls, planTlsDays } from '../store/days/tls-days.ts';
import { latestDays } from '../store/days/views.ts';
import { askAll, type Reader } from '../store/engine/reader.ts';
import { listFailingSources } from './failing-sources.ts';
import { findRegressionCause, type SourcesQuery } from './regression-cause.ts';
import { listSenders } from './senders.ts';

/** A domain that alerts are about: an account's, and not paused. */
export interface WatchedDomain {
  readonly id: string;
  readonly accountId: string;
  /** The domain as alerts look at it (domain/reports/authentication.ts). Often the views do not differ: then one. */
  readonly views: Views;
}

interface FactsQuery {
  readonly domainId: string;
  readonly now: Instant;
  readonly thresholds: Thresholds;
  /** Whether receipts are known also when no alert could depend on them. */
  readonly withReceipts?: boolean;
}

/** Runs in the reader's thread, where there is one. */
export function readFacts(
  store: ReadingStore,
  query: FactsQuery,
): Promise<{ readonly domain?: WatchedDomain }> {
  return readStored(store, import.meta.url, [findFacts, query]);
}

/** A bounded number of look-ups, whatever the history. No domain when it is paused, unclaimed or unknown. */
export async function findFacts(
  reader: Reader,
  query: FactsQuery,
): Promise<Counted & { readonly domain?: WatchedDomain }> {
  const { domainId, thresholds } = query;
  const [[found], dns] = await reader.readPlan(() =>
    askAll(watchedDomain({ domainId }), listDnsRecords({ domainId })),
  );
  if (found === undefined) return {};
  const { id, accountId, version, hasDoubtful, tlsVersion, ...known } = found;
  const tls = tlsVersion === null ? [] : await readTls(reader, query);
  const counted = { domainId, version, days: [] };
  const common = { ...query, ...known, tls, accountId, hasDoubtful: Boolean(hasDoubtful), counted };
  const read = async (view: View): Promise<AlertFacts> => {
    const query = { ...common, view, read: new Map<Day, readonly DaySource[]>() };
    const ofView = await readView(reader, query);
    const facts = { ...known, ...ofView, dns: toDnsFacts(dns) };
    const lasting = findLasting(facts, thresholds);
    if (lasting === undefined) return facts;
    return { ...facts, cause: await findRegressionCause(reader, query, lasting.day.day) };
  };
  const established = hasDoubtful ? [await read('established')] : [];
  const isEnough = established.length > 0 && thresholds.unauthenticated === 'off';
  const all = isEnough ? [] : [await read('all')];
  return { domain: { id, accountId, views: [...all, ...established] as never }, counted };
}

interface ViewQuery extends FactsQuery, SourcesQuery {
  readonly accountId: string;
  readonly domainId: string;
  readonly now: Instant;
  /** Whether a report of the domain is of no established reporter. */
  readonly hasDoubtful: boolean;
  readonly lastReportAt: Instant | null;
  readonly tls: AlertFacts['tls'];
}

/** Only believed reports, whatever the view. Most domains have no failure, and then none is read. */
async function readTls(reader: Reader, { domainId, now, thresholds }: FactsQuery) {
  const since = `${addDays(toDay(now), -thresholds.maxAgeDays)}T00:00:00Z`;
  const [found] = await reader.readAll(doubtfulTls({ domainId, since, type: TLS_FAILURES }));
  if (found === undefined) return [];
  const range = { from: toDay(BEGIN_OF_TIME), to: addDays(toDay(now), 1) };
  const days = toTlsDays(thresholds);
  return await reader.readPlan(() => planTlsDays({ domainId, ...range, days }), { domainId });
}

async function readView(reader: Reader, query: ViewQuery) {
  const { domainId, now, thresholds, view, tls } = query;
  // A reporter whose clock is wrong must not move the newest day far into the future.
  const to = addDays(toDay(now), 1);
  const limit = daysNeeded(thresholds);
  const latest = { domainId, view, from: toDay(BEGIN_OF_TIME), to, limit };
  const days = (await reader.readAll(latestDays(latest))).toReversed();
  const from = days[0]?.day ?? to;
  const oldest = [from, tls.at(-1)?.day ?? to].sort()[0] as Day;
  const known = await reader.readAll(knownAlerts({ domainId, from: oldest }));
  const alerts = known.map(({ context, ...alert }): KnownAlert => {
    return { ...alert, isOpen: alert.resolvedAt === null, context: JSON.parse(context) };
  });
  const failingSources = await listFailingSources(reader, { ...query, alerts, days, from });
  const senders = await listSenders(reader, { ...query, days });
  return {
    now,
    days,
    tls,
    alerts,
    failingSources,
    senders,
    ...(await readReceipts(reader, query)),
  };
}

/** Rows are read only where an alert may depend on them: they say when a domain with others' reports was last heard of. */
async function readReceipts(reader: Reader, query: ViewQuery) {
  const { domainId, view, hasDoubtful, lastReportAt, now, thresholds, withReceipts } = query;
  const isSilent =
    lastReportAt !== null && hoursBetween(lastReportAt, now) >= thresholds.silenceHours;
  const isOwn = view === 'established' && hasDoubtful;
  if (!isSilent && !isOwn && !withReceipts) return { lastReportAt, receipts: [] };
  const windowDays = thresholds.silenceWindowDays;
  const found = await reader.readPlan(() => planReceipts({ domainId, view, windowDays }));
  return isOwn ? found : { ...found, lastReportAt };
}
