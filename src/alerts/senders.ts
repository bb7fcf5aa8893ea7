import type { SenderDays } from '../domain/alerts/sender-failures.ts';
import type { Thresholds } from '../domain/alerts/thresholds.ts';
import { addDays, BEGIN_OF_TIME, type Day, toDay } from '../domain/instant.ts';
import { addUp, type DayCounts, failedOf } from '../domain/pass-rate.ts';
import { isOwnVerdict } from '../domain/readiness.ts';
import { remember } from '../domain/remember.ts';
import { parsePattern } from '../domain/reports/source-pattern.ts';
import type { JudgedSenders } from '../domain/senders/judge-senders.ts';
import { type SentDay, toCountedDays } from '../domain/senders/latest.ts';
import { toSite, toSiteName } from '../domain/senders/place.ts';
import type { Sender, SentMail } from '../domain/senders/sender.ts';
import {
  addSource,
  type DaySource,
  keepLargest,
  type SourceSums,
} from '../domain/sources/day-sources.ts';
import { judgeMail } from '../judging/judged.ts';
import { readMarks } from '../store/days/marks.ts';
import { readAllNames } from '../store/days/names.ts';
import type { Reader } from '../store/engine/reader.ts';
import { planLatest, type SourcesOfDay, type SourcesQuery } from './regression-cause.ts';

interface SendersQuery extends SourcesQuery {
  readonly accountId: string;
  readonly thresholds: Thresholds;
  readonly days: readonly DayCounts[];
}

/** What senders of the owner's sent on days that a rule looks back on, of which messages failed. */
export async function listSenders(
  reader: Reader,
  query: SendersQuery,
): Promise<readonly SenderDays[]> {
  const { accountId, domainId, domain, thresholds, now } = query;
  const { baselineDays, regressionDays, senderMessages, senderPercent } = thresholds;
  const limit = baselineDays + 2 * regressionDays;
  const failed = failedOf(addUp(query.days.slice(-limit)));
  if (failed * 100 < senderMessages * senderPercent) return [];
  const range = { from: toDay(BEGIN_OF_TIME), to: addDays(toDay(now), 1), limit };
  const days = await reader.readPlan(() => planLatest(query, range), { domainId });
  const parse = remember(parsePattern);
  const mail = toMail(days, await readAllNames(reader, domainId), parse);
  const marks = await readMarks(reader, domainId);
  const scope = { accountId, domainId };
  const judged = await judgeMail(reader, { scope, domain, mail, marks });
  const sent = listSent(days, { judged, parse });
  const groups = Map.groupBy(mail, (one) => toKey(one, judged.of(one.address)));
  return [...groups].flatMap(([key, of]) => toSender(key, of, { judged, sent }));
}

type Parse = typeof parsePattern;

/** The largest addresses that sent. */
function toMail(
  days: readonly SourcesOfDay[],
  names: ReadonlyMap<string, string>,
  parse: Parse,
): readonly SentMail[] {
  const sums: SourceSums = new Map();
  const seen = new Map<string, { firstDay: Day; lastDay: Day }>();
  for (const { day, sources } of days)
    for (const source of sources) {
      addSource(sums, source);
      seen.set(source.address, {
        firstDay: day,
        lastDay: seen.get(source.address)?.lastDay ?? day,
      });
    }
  return keepLargest(sums).map(({ patterns, reporters: _, ...source }): SentMail => {
    const results = [...patterns].map(([text, messages]) => ({ seen: parse(text), messages }));
    const on = seen.get(source.address) as { firstDay: Day; lastDay: Day };
    return { ...source, ...on, results, name: names.get(source.address), network: undefined };
  });
}

interface SentContext {
  readonly judged: JudgedSenders;
  readonly parse: Parse;
}

/** The days of each address. */
function listSent(days: readonly SourcesOfDay[], context: SentContext) {
  const sent = new Map<string, SentDay[]>();
  for (const { day, sources } of days)
    for (const source of sources) {
      const known = sent.get(source.address) ?? [];
      known.push(toSentDay(source, day, context));
      sent.set(source.address, known);
    }
  return sent;
}

function toSentDay(source: DaySource, day: Day, { judged, parse }: SentContext): SentDay {
  const { messages, aligned, dkimAligned, patterns, address } = source;
  const results = messages === aligned ? [] : [...patterns];
  const failed = results.flatMap(([text, count]) => {
    const seen = parse(text);
    if (seen.isDkimAligned || seen.spf.isAligned) return [];
    return [{ seen, messages: count, look: judged.lookOf(seen, address) }];
  });
  return { day, messages, aligned, dkimAligned, failed };
}

/**
 * A service, unless any customer has machines of its own there. Else an address, or those beside each other whose names in DNS
 * differ by numbers alone: it stays the same whatever else is known of the sender.
 */
function toKey({ address, name }: SentMail, sender: Sender | undefined): string {
  const { key, service } = sender ?? {};
  if (key !== undefined && service !== undefined && service.kind !== 'hosting') return key;
  const pool = name?.replaceAll(/\d+/g, '*');
  return pool === undefined ? address : `${pool} (${toSiteName(toSite(address))})`;
}

interface GroupContext {
  readonly judged: JudgedSenders;
  readonly sent: ReadonlyMap<string, readonly SentDay[]>;
}

function toSender(
  key: string,
  mail: readonly SentMail[],
  { judged, sent }: GroupContext,
): readonly SenderDays[] {
  const failing = mail.filter((one) => failedOf(one) > 0).map(({ address }) => address);
  const [first] = failing;
  const sender = judged.of(first ?? '');
  const passes = mail.some(({ aligned }) => aligned > 0);
  if (first === undefined || sender === undefined || !passes || !isOwnVerdict(sender)) return [];
  const days = toCountedDays(mail.flatMap(({ address }) => sent.get(address) ?? []));
  const service = key === sender.key ? sender.service?.name : undefined;
  return [{ key, title: toTitle(key, sender, failing), service, addresses: failing, days }];
}

function toTitle(key: string, sender: Sender, [first = '', another]: readonly string[]): string {
  if (another !== undefined && key !== sender.key) return key;
  return key === sender.key || first === sender.key ? sender.title : first;
}
