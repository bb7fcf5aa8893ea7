import { loadOwnerDomains } from '../domain/dns/organizational-domain.ts';
import type {
  FailingSender,
  JudgedMail,
  ScopedMail,
  UnsignedSender,
} from '../domain/domain-facts.ts';
import { addDays, type Day, type DayRange, daysBetween } from '../domain/instant.ts';
import {
  isBlocking,
  type MailByStanding,
  type Standing,
  sumByStanding,
  toStanding,
} from '../domain/own-mail.ts';
import { addUp, type Counts, failedOf } from '../domain/pass-rate.ts';
import {
  HISTORY_DAYS,
  MANY_MESSAGES,
  MIN_DATA_DAYS,
  QUIET_DAYS,
  WINDOW_DAYS,
} from '../domain/readiness.ts';
import { remember } from '../domain/remember.ts';
import { parsePattern } from '../domain/reports/source-pattern.ts';
import { addSafely } from '../domain/safe-sum.ts';
import { judgeSenders } from '../domain/senders/judge-senders.ts';
import { findLatest, type Latest, type SentDay } from '../domain/senders/latest.ts';
import type { Sender } from '../domain/senders/sender.ts';
import { addCounts, MAX_SOURCES, NO_COUNTS } from '../domain/sources/day-sources.ts';
import type { SeenMail, Signature } from '../domain/sources/evidence.ts';
import type { Network, Networks } from '../domain/sources/network.ts';
import type { SourceCounts } from '../domain/sources/source.ts';
import { readAllNames } from '../store/days/names.ts';
import { sistersOf } from '../store/domains/sisters.ts';
import type { Reader } from '../store/engine/reader.ts';
import type { DomainOfAccount } from '../store/lists/heads.ts';
import { MAX_JUDGED } from './evidence.ts';
import { keep } from './kept.ts';
import { findGuide, loadNamer } from './known-services.ts';
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
  /** Whether the days of each source are given, too. */
  readonly isDaily?: boolean;
}

/** An address with what it sent in the range, and who it is. */
export interface JudgedSource extends Omit<SourceSum, 'patterns' | 'sent'> {
  readonly name: string | undefined;
  readonly network: Network | undefined;
  readonly sender: Sender;
  readonly standing: Standing;
  readonly sent: readonly SentDay[];
}

type Seen = ReturnType<typeof parsePattern>;

export type JudgedRange = Awaited<ReturnType<typeof readJudged>>;

/** Throws `not_found` when the account has no such domain. */
export async function readJudged(
  { reader, days, networks }: JudgeDeps,
  { scope, name: domain, range, isDaily = false }: JudgedQuery,
) {
  const { texts, known, sources, ...found } = await days.readEvidence({ scope, range, isDaily });
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
  const toOrganizationalDomain = remember(await loadOwnerDomains());
  const judged = judgeSenders(mail, {
    domain,
    modes: { dkim: 'r', spf: 'r' },
    toOrganizationalDomain,
    nameService: await loadNamer(domain),
    findMark: (subject) => found.marks.get(subject)?.mark,
    isSister: await loadSisters(reader, { scope, domain, mail, toOrganizationalDomain }),
  });
  const toJudged = (source: (typeof sources)[number]): JudgedSource => {
    // Every address of the range is among those that are judged.
    const sender = judged.of(source.address) as Sender;
    const sent = source.sent.map((day): SentDay => {
      const failed = day.failed.map(([place, messages]) => {
        const of = seen[place] as Seen;
        return { seen: of, messages, look: judged.lookOf(of, source.address) };
      });
      return { ...day, failed };
    });
    return { ...describe(source), sender, standing: toStanding(sender, source), sent };
  };
  const results = new Map(mail.map((one) => [one.address, one.results]));
  return { ...found, sources: sources.map(toJudged), results };
}

interface SistersQuery {
  readonly scope: DomainOfAccount;
  readonly domain: string;
  readonly mail: readonly {
    readonly name: string | undefined;
    readonly results: readonly { readonly seen: Seen }[];
  }[];
  readonly toOrganizationalDomain: (name: string) => string;
}

/** Finds which organisations of a domain's senders have another domain of the account. */
async function loadSisters(
  reader: Reader,
  query: SistersQuery,
): Promise<(name: string) => boolean> {
  const { scope, domain, mail, toOrganizationalDomain } = query;
  const own = toOrganizationalDomain(domain);
  const texts = new Set(mail.flatMap(({ results }) => results.map(({ seen }) => seen)));
  const passed = [...texts].flatMap(({ spf, dkim }) =>
    [spf, ...dkim].filter(({ result }) => result === 'pass').map((one) => one.domain),
  );
  const names = new Set([...passed, ...mail.map(({ name }) => name)].filter((name) => !!name));
  const all = new Set([...names].map((name) => toOrganizationalDomain(name as string)));
  all.delete(own);
  if (all.size === 0) return () => false;
  const asked = sistersOf({ accountId: scope.accountId, names: JSON.stringify([...all]) });
  const found = new Set((await reader.readAll(asked)).map(({ name }) => name));
  return (name) => found.has(toOrganizationalDomain(name));
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
  readonly latest: Latest;
  readonly isBlocking: boolean;
  /** What receivers did with what failed. */
  readonly applied: ReadonlyMap<string | null, number>;
}

type OfSender = Pick<JudgedSource, 'sender' | 'sent' | keyof SourceCounts>;

/** Most failed messages first. `latest` is the first of the latest days. */
function sumBySender(parts: readonly OfSender[], latest: Day): readonly SenderMail[] {
  const bySender = Map.groupBy(parts, ({ sender }) => sender);
  return [...bySender]
    .map(([sender, some]) => toSenderMail(sender, some, latest))
    .sort((a, b) => failedOf(b) - failedOf(a) || b.messages - a.messages);
}

function toSenderMail(sender: Sender, some: readonly OfSender[], from: Day): SenderMail {
  const sum = { ...NO_COUNTS };
  for (const part of some) addCounts(sum, part);
  const sources = some.filter((part) => failedOf(part) > 0).length;
  const sent = some.flatMap((part) => part.sent);
  const latest = findLatest(sent, from);
  const standing = toStanding(sender, sum);
  const days = new Set(sent.filter((day) => failedOf(day) > 0).map(({ day }) => day)).size;
  const of = { failed: failedOf(sum), days, isFailing: latest.isFailing };
  const applied = new Map<string | null, number>();
  for (const { seen, messages } of sent.flatMap(({ failed }) => failed)) {
    const { disposition } = seen as Seen;
    applied.set(disposition, addSafely(applied.get(disposition) ?? 0, messages));
  }
  return {
    ...sum,
    sender,
    standing,
    sources,
    latest,
    isBlocking: isBlocking(standing, of),
    applied,
  };
}

interface OwnQuery extends JudgedQuery {
  /** The first day that has reports. */
  readonly oldest: Day;
  /** All messages of the range. */
  readonly all: Counts;
  /** Whether the next policy has mail refused, so that what failed long ago counts. */
  readonly isForReject: boolean;
}

/** Data days whose mail tells what a sender does now. */
const LATEST_DAYS = 7;

function findLatestDay({ sources }: JudgedRange, { range }: OwnQuery): Day {
  const days = new Set(sources.flatMap(({ sent }) => sent.map(({ day }) => day)));
  return [...days].sort().at(-LATEST_DAYS) ?? range.from;
}

/** Whose the mail of a range is. */
export async function readOwnMail(deps: JudgeDeps, query: OwnQuery) {
  const judged = await readJudged(deps, { ...query, isDaily: true });
  const latest = findLatestDay(judged, query);
  const senders = sumBySender(judged.sources, latest);
  const below = listBelow(judged, query.name);
  const owned = sumOwned(senders, judged);
  const history = await readHistory(deps, query, { owned, latest });
  const mail: JudgedMail = {
    all: await toScoped(senders, sumByStanding(judged.sources, query.all, toRest(judged))),
    below: await toScoped(sumBySender(below, latest), sumByStanding(below, addUp(below))),
    ...{ owned, ...history, unsigned: await listUnsigned(senders, judged) },
  };
  return { ...judged, senders, mail };
}

const isOfOwner = ({ sender }: { readonly sender: Sender }) =>
  sender.verdict === 'yours' || sender.verdict === 'needs_setup';

function sumOwned(senders: readonly SenderMail[], { sources }: JudgedRange): JudgedMail['owned'] {
  const days = new Set(sources.filter(isOfOwner).flatMap(({ sent }) => sent.map(({ day }) => day)));
  return { ...addUp(senders.filter(isOfOwner)), days: days.size };
}

/**
 * What says more than a month: asked of a domain with little mail, or on few days, and before mail is refused, since so many
 * days are four times the work.
 */
async function readHistory(
  deps: JudgeDeps,
  query: OwnQuery,
  { owned, latest }: { readonly owned: JudgedMail['owned']; readonly latest: Day },
): Promise<Pick<JudgedMail, 'isQuiet' | 'past'>> {
  const { range, oldest, isForReject } = query;
  const isMany = owned.messages >= MANY_MESSAGES && owned.days >= MIN_DATA_DAYS;
  const isYoung = daysBetween(oldest, range.to) < WINDOW_DAYS - 1;
  if (isYoung || (isMany && !isForReject)) return { isQuiet: false, past: [] };
  const all = { from: addDays(range.to, 1 - HISTORY_DAYS), to: range.to };
  const { sources } = await readJudged(deps, { ...query, range: all, isDaily: true });
  const quarter = addDays(range.to, 1 - QUIET_DAYS);
  const hasFailed = ({ standing, sent }: JudgedSource) =>
    (standing === 'own' || standing === 'undecided') &&
    sent.some((day) => day.day >= quarter && failedOf(day) > 0);
  const past = sumBySender(sources, latest).filter((one) => isOfOwner(one) && one.isBlocking);
  return { isQuiet: !sources.some(hasFailed), past: await Promise.all(past.map(toFailing)) };
}

async function toScoped(
  senders: readonly SenderMail[],
  standings: MailByStanding,
): Promise<ScopedMail> {
  const of = (...wanted: Standing[]) =>
    Promise.all(senders.filter(({ standing }) => wanted.includes(standing)).map(toFailing));
  return {
    standings,
    failing: await of('own', 'undecided'),
    forwarders: await of('forwarded'),
    strangers: await of('stranger'),
  };
}

async function toFailing(mail: SenderMail): Promise<FailingSender> {
  const { sender, standing, dkimAligned, spfAligned, ...rest } = mail;
  const { key, title, verdict, broken, service, lastDay } = sender;
  const [reason] = sender.reasons as [Sender['reasons'][number]];
  const guide = service && (await findGuide(service.name));
  return { ...rest, key, title, verdict, reason, broken, service, guide, lastDay };
}

/** Fewer messages that pass by SPF alone matter only where nothing is signed. */
const MIN_UNSIGNED = 10;

async function listUnsigned(
  senders: readonly SenderMail[],
  judged: JudgedRange,
): Promise<readonly UnsignedSender[]> {
  const own = senders.filter(isOfOwner);
  const isSigned = own.some(({ dkimAligned }) => dkimAligned > 0);
  const matters = ({ latest, ...sum }: SenderMail) =>
    latest.unsigned > 0 && (!isSigned || sum.aligned - sum.dkimAligned >= MIN_UNSIGNED);
  const found = own.filter(matters).sort((a, b) => b.latest.unsigned - a.latest.unsigned);
  return await Promise.all(
    found.map(async (one) => ({
      ...(await toFailing(one)),
      signature: findSignature(one.sender, judged),
      unsigned: one.aligned - one.dkimAligned,
    })),
  );
}

/** The signature that most messages have of those that pass by SPF alone. */
function findSignature(sender: Sender, { sources, results }: JudgedRange): Signature | undefined {
  const sums = new Map<string, { signature: Signature | undefined; messages: number }>();
  const own = sources.filter((one) => one.sender === sender);
  for (const { seen, messages } of own.flatMap(({ address }) => results.get(address) ?? [])) {
    if (seen.isDkimAligned || !seen.spf.isAligned) continue;
    const [signature] = seen.dkim;
    const key = `${signature?.domain} ${signature?.result}`;
    const sum = sums.get(key) ?? { signature, messages: 0 };
    sum.messages = addSafely(sum.messages, messages);
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => b.messages - a.messages)[0]?.signature;
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

/** What addresses sent that names subdomains in the header From. */
function listBelow({ results, sources }: JudgedRange, domain: string) {
  return sources.flatMap(({ address, sender, sent }) => {
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
    return [{ ...counts, sender, standing: toStanding(sender, counts), sent }];
  });
}
