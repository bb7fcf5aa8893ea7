import { loadOwnerDomains } from '../domain/dns/organizational-domain.ts';
import { addDays, type Day, type DayRange, daysBetween } from '../domain/instant.ts';
import {
  type MailByStanding,
  type Standing,
  sumByStanding,
  toStanding,
} from '../domain/own-mail.ts';
import { addUp, type Counts, failedOf } from '../domain/pass-rate.ts';
import {
  type FailingSender,
  type JudgedMail,
  MANY_MESSAGES,
  MIN_DATA_DAYS,
  QUIET_DAYS,
  type ScopedMail,
  WINDOW_DAYS,
} from '../domain/readiness.ts';
import { remember } from '../domain/remember.ts';
import { parsePattern } from '../domain/reports/source-pattern.ts';
import { addSafely } from '../domain/safe-sum.ts';
import { judgeSenders } from '../domain/senders/judge-senders.ts';
import type { Sender } from '../domain/senders/sender.ts';
import { addCounts, MAX_SOURCES, NO_COUNTS } from '../domain/sources/day-sources.ts';
import type { SeenMail } from '../domain/sources/evidence.ts';
import type { Network, Networks } from '../domain/sources/network.ts';
import type { SourceCounts } from '../domain/sources/source.ts';
import { readAllNames } from '../store/days/names.ts';
import type { Reader } from '../store/engine/reader.ts';
import type { DomainOfAccount } from '../store/lists/heads.ts';
import { MAX_JUDGED } from './evidence.ts';
import { keep } from './kept.ts';
import { loadNamer } from './known-services.ts';
import type { DaysReads } from './reads.ts';
import type { SourceSum } from './summed-range.ts';

export { MAX_JUDGED };

/*
 * Who sent in a domain's name, and whose mail it is. Pages, exports, mails and the API ask it here, so that they agree.
 */

export interface JudgeDeps {
  readonly reader: Reader;
  readonly days: Pick<DaysReads, 'readEvidence'>;
  readonly networks?: Pick<Networks, 'find'> | undefined;
}

interface JudgedQuery {
  readonly scope: DomainOfAccount;
  /** The domain's. */
  readonly name: string;
  readonly range: DayRange;
}

/** An address with what it sent in the range, and who it is. */
export interface JudgedSource extends Omit<SourceSum, 'patterns'> {
  readonly name: string | undefined;
  readonly network: Network | undefined;
  readonly sender: Sender;
  readonly standing: Standing;
}

type Seen = ReturnType<typeof parsePattern>;

export type JudgedRange = Awaited<ReturnType<typeof readJudged>>;

/** Throws `not_found` when the account has no such domain. */
export async function readJudged(
  { reader, days, networks }: JudgeDeps,
  { scope, name: domain, range }: JudgedQuery,
) {
  const { texts, known, sources, ...found } = await days.readEvidence({ scope, range });
  const names = await readAllNames(reader, scope.domainId);
  const seen = texts.map(parsePattern);
  const describe = <S extends { readonly address: string }>(source: S) => ({
    ...source,
    name: names.get(source.address),
    network: networks?.find(source.address),
  });
  const mail = known.map(({ patterns, ...source }) => ({
    ...describe(source),
    results: patterns.map(([place, messages]) => ({ seen: seen[place] as Seen, messages })),
  }));
  const judged = judgeSenders(mail, {
    domain,
    modes: { dkim: 'r', spf: 'r' },
    toOrganizationalDomain: remember(await loadOwnerDomains()),
    nameService: await loadNamer(domain),
    findMark: (subject) => found.marks.get(subject)?.mark,
  });
  const toJudged = (source: (typeof sources)[number]): JudgedSource => {
    // Every address of the range is among those that are judged.
    const sender = judged.of(source.address) as Sender;
    return { ...describe(source), sender, standing: toStanding(sender, source) };
  };
  const results = new Map(mail.map((one) => [one.address, one.results]));
  return { ...found, sources: sources.map(toJudged), results };
}

/** By their addresses. */
export type BySource = ReadonlyMap<string, JudgedSource>;

const keptSenders = keep<{ readonly version: string; readonly judged: BySource }>({
  name: 'senders',
  toBytes: ({ judged }) => 500 * (1 + judged.size),
});

/** The senders of a range, for who reads its pages. `version` is another one when something changes by which they are judged. */
export async function keepJudged(deps: JudgeDeps, query: JudgedQuery, version: string) {
  const { scope, range } = query;
  const key = `${scope.domainId} ${range.from} ${range.to}`;
  const known = keptSenders.find(deps.reader, key);
  if (known?.version === version) return known.judged;
  const { sources } = await readJudged(deps, query);
  const judged: BySource = new Map(sources.map((source) => [source.address, source]));
  keptSenders.set(deps.reader, key, { version, judged });
  return judged;
}

/** What a sender sent in a range. */
export interface SenderMail extends SourceCounts {
  readonly sender: Sender;
  readonly standing: Standing;
  /** Addresses of which messages failed. */
  readonly sources: number;
}

type OfSender = Pick<JudgedSource, 'sender' | keyof SourceCounts>;

/** Most failed messages first. */
function sumBySender(parts: readonly OfSender[]): readonly SenderMail[] {
  const bySender = Map.groupBy(parts, ({ sender }) => sender);
  return [...bySender]
    .map(([sender, some]) => {
      const sum = { ...NO_COUNTS };
      for (const part of some) addCounts(sum, part);
      const failing = some.filter((part) => failedOf(part) > 0).length;
      return { ...sum, sender, standing: toStanding(sender, sum), sources: failing };
    })
    .sort((a, b) => failedOf(b) - failedOf(a) || b.messages - a.messages);
}

interface OwnQuery extends JudgedQuery {
  /** The first day that has reports. */
  readonly oldest: Day;
  /** All messages of the range. */
  readonly all: Counts;
}

/** Whose the mail of a range is. */
export async function readOwnMail(deps: JudgeDeps, query: OwnQuery) {
  const judged = await readJudged(deps, query);
  const senders = sumBySender(judged.sources);
  const below = listBelow(judged, query.name);
  const mail: JudgedMail = {
    all: toScoped(senders, sumByStanding(judged.sources, query.all, toRest(judged))),
    below: toScoped(sumBySender(below), sumByStanding(below, addUp(below))),
    isQuiet: await isQuiet(deps, query, judged.days),
  };
  return { ...judged, senders, mail };
}

function toScoped(senders: readonly SenderMail[], standings: MailByStanding): ScopedMail {
  const isOf = (...wanted: Standing[]) =>
    senders.filter(({ standing }) => wanted.includes(standing)).map(toFailing);
  return {
    standings,
    failing: isOf('own', 'undecided'),
    forwarders: isOf('forwarded'),
    strangers: isOf('stranger'),
  };
}

/**
 * Whose the messages are that fail of addresses that were not kept, or not judged: only who forges has thousands of
 * addresses. Where most of what is kept and fails is not forged, nobody knows.
 */
export function toRest({ total, sources }: JudgedRange): Standing {
  if (total < MAX_SOURCES) return 'undecided';
  const forged = sources.filter(
    ({ standing }) => standing === 'stranger' || standing === 'foreign',
  );
  const [some, all] = [forged, sources].map((one) => failedOf(addUp(one))) as [number, number];
  return 2 * some > all ? 'stranger' : 'undecided';
}

function toFailing({ sender, messages, aligned }: SenderMail): FailingSender {
  const { key, title, verdict, broken } = sender;
  return { key, title, verdict, broken, messages, aligned };
}

/** What addresses sent that names subdomains in the header From. */
function listBelow({ results, sources }: JudgedRange, domain: string) {
  return sources.flatMap(({ address, sender }) => {
    const named = results
      .get(address)
      ?.filter(({ seen }) => seen.headerFrom && seen.headerFrom !== domain);
    if (!named?.length) return [];
    const sumOf = (isMeant: (seen: SeenMail) => boolean) =>
      named.reduce((sum, { seen, messages }) => addSafely(sum, isMeant(seen) ? messages : 0), 0);
    const counts = {
      messages: sumOf(() => true),
      aligned: sumOf(({ isDkimAligned, spf }) => isDkimAligned || spf.isAligned),
      dkimAligned: sumOf(({ isDkimAligned }) => isDkimAligned),
      spfAligned: sumOf(({ spf }) => spf.isAligned),
    };
    return [{ ...counts, sender, standing: toStanding(sender, counts) }];
  });
}

/** Asked of a domain with little mail, or on few days, only: so many days are three times the work. */
async function isQuiet(deps: JudgeDeps, query: OwnQuery, dataDays: number): Promise<boolean> {
  const { range, oldest, all } = query;
  const isMany = all.aligned >= MANY_MESSAGES && dataDays >= MIN_DATA_DAYS;
  if (isMany || daysBetween(oldest, range.to) < WINDOW_DAYS - 1) return false;
  const quarter = { from: addDays(range.to, 1 - QUIET_DAYS), to: range.to };
  const { sources } = await readJudged(deps, { ...query, range: quarter });
  return !sources.some(({ standing }) => standing === 'own' || standing === 'undecided');
}
