import { addUp, type Counts, failedOf } from '../../domain/alerts/rate.ts';
import { loadOwnerDomains } from '../../domain/dns/organizational-domain.ts';
import { addDays, type Day, type DayRange, daysBetween } from '../../domain/instant.ts';
import { type Standing, sumByStanding, toStanding } from '../../domain/own-mail.ts';
import {
  type FailingSender,
  type JudgedMail,
  MANY_MESSAGES,
  MIN_DATA_DAYS,
  QUIET_DAYS,
  WINDOW_DAYS,
} from '../../domain/readiness.ts';
import { remember } from '../../domain/remember.ts';
import { parsePattern } from '../../domain/reports/source-pattern.ts';
import { addCounts, MAX_SOURCES } from '../../domain/sources/day-sources.ts';
import type { SeenMail } from '../../domain/sources/evidence.ts';
import { judgeSenders } from '../../domain/sources/judge-senders.ts';
import type { Network, Networks } from '../../domain/sources/network.ts';
import type { Sender } from '../../domain/sources/sender.ts';
import type { SourceCounts } from '../../domain/sources/source.ts';
import type { Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { MAX_JUDGED } from './evidence.ts';
import { loadNamer } from './known-services.ts';
import { readAllNames } from './names.ts';
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
    results: patterns.map(([place, messages]) => ({ seen: seen[place] as SeenMail, messages })),
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

/** What a sender sent in a range. */
export interface SenderMail extends SourceCounts {
  readonly sender: Sender;
  readonly standing: Standing;
  /** Addresses of which messages failed. */
  readonly sources: number;
}

/** Most failed messages first. */
function sumBySender(sources: readonly JudgedSource[]): readonly SenderMail[] {
  const bySender = Map.groupBy(sources, ({ sender }) => sender);
  return [...bySender]
    .map(([sender, some]) => {
      const sum = { messages: 0, aligned: 0, dkimAligned: 0, spfAligned: 0 };
      for (const source of some) addCounts(sum, source);
      const failing = some.filter((source) => failedOf(source) > 0).length;
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
  const isOf = (...standings: Standing[]) =>
    senders.filter(({ standing }) => standings.includes(standing)).map(toFailing);
  const mail: JudgedMail = {
    all: sumByStanding(judged.sources, query.all, toRest(judged)),
    below: sumBelow(judged, query.name),
    failing: isOf('own', 'undecided'),
    forwarders: isOf('forwarded'),
    strangers: isOf('stranger'),
    isQuiet: await isQuiet(deps, query, judged.days),
  };
  return { ...judged, senders, mail };
}

/** Messages of addresses that were not kept, or not judged, are strangers': only who forges has thousands of addresses. */
export const toRest = ({ total }: JudgedRange) => (total >= MAX_SOURCES ? 'stranger' : 'undecided');

function toFailing({ sender, messages, aligned }: SenderMail): FailingSender {
  const { key, title, verdict, broken } = sender;
  return { key, title, verdict, broken, messages, aligned };
}

/** The part of the mail that names subdomains in the header From. */
function sumBelow({ results, sources }: JudgedRange, domain: string) {
  const parts = sources.flatMap(({ address, sender }) => {
    const named = results
      .get(address)
      ?.filter(({ seen }) => seen.headerFrom && seen.headerFrom !== domain);
    if (!named?.length) return [];
    const counts = addUp(
      named.map(({ seen, messages }) => {
        const passes = seen.isDkimAligned || seen.spf.isAligned;
        return { messages, aligned: passes ? messages : 0 };
      }),
    );
    return [{ ...counts, standing: toStanding(sender, counts) }];
  });
  return sumByStanding(parts, addUp(parts));
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
