import { loadOwnerDomains } from '../domain/dns/organizational-domain.ts';
import { mapInParts } from '../domain/in-parts.ts';
import { type DayRange, toDay, toInstant } from '../domain/instant.ts';
import { type Standing, toStanding } from '../domain/own-mail.ts';
import { addUp, failedOf } from '../domain/pass-rate.ts';
import { remember } from '../domain/remember.ts';
import { parsePattern } from '../domain/reports/source-pattern.ts';
import { judgeSenders } from '../domain/senders/judge-senders.ts';
import type { SentDay } from '../domain/senders/latest.ts';
import type { Sender, SentMail } from '../domain/senders/sender.ts';
import { MAX_SOURCES } from '../domain/sources/day-sources.ts';
import type { Network, Networks } from '../domain/sources/network.ts';
import type { Marks } from '../store/days/marks.ts';
import { readAllNames } from '../store/days/names.ts';
import { sistersOf } from '../store/domains/sisters.ts';
import type { Reader } from '../store/engine/reader.ts';
import type { DomainOfAccount } from '../store/lists/heads.ts';
import { MAX_JUDGED } from './evidence.ts';
import { keepFinding } from './kept.ts';
import { findServicesVersion, loadNamer } from './known-services.ts';
import type { DaysReads } from './reads.ts';
import { readSourcesState } from './source-list.ts';
import type { SourceSum } from './summed-range.ts';
import { runInTurns } from './turns.ts';

export { MAX_JUDGED };

/*
 * Who sent in a domain's name, and whose mail it is. Pages, exports, mails and the API ask it here, so that they agree.
 */

export interface JudgeDeps {
  readonly reader: Reader;
  readonly days: Pick<DaysReads, 'readEvidence'>;
  readonly networks?: Pick<Networks, 'find' | 'findVersion'> | undefined;
}

export interface JudgedQuery {
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

export type Seen = ReturnType<typeof parsePattern>;

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
  const mail = await runInTurns(
    mapInParts(known, ({ patterns, ...source }) => ({
      ...describe(source),
      results: patterns.map(([place, messages]) => ({ seen: seen[place] as Seen, messages })),
    })),
  );
  const judged = await judgeMail(reader, { scope, domain, mail, marks: found.marks });
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
  return { ...found, sources: await runInTurns(mapInParts(sources, toJudged)), results };
}

/** The versions of what senders are named by, whatever they sent. */
export async function findKnown({ networks }: Pick<JudgeDeps, 'networks'>) {
  return [await findServicesVersion(), networks?.findVersion()] as const;
}

const keepRange = keepFinding<JudgedRange>({
  name: 'range',
  toBytes: ({ results }) => 1_000 * (1 + results.size),
  ttlMs: 60_000,
});

/** The same for whoever looks at pages of a range, also at the same time: it takes seconds of a year with 20,000 addresses. */
export async function readJudgedOnce(
  deps: JudgeDeps & { readonly now: () => Date },
  query: JudgedQuery,
): Promise<JudgedRange> {
  const { reader } = deps;
  const { scope, range } = query;
  const today = toDay(toInstant(deps.now()));
  // What is read after it may be newer than this version, which is another one then.
  const { version: days, reporters } = await readSourcesState(reader, scope, today);
  const version = [days, reporters, today, ...(await findKnown(deps))].join();
  const key = `${scope.domainId} ${range.from} ${range.to}`;
  return await keepRange(reader, { key, version }, () => readJudged(deps, query));
}

interface MailQuery {
  readonly scope: DomainOfAccount;
  readonly domain: string;
  readonly mail: readonly SentMail[];
  readonly marks: Marks;
}

/** Who sent, by all that is known of the domain. */
export async function judgeMail(reader: Reader, { marks, mail, ...of }: MailQuery) {
  const toOrganizationalDomain = remember(await loadOwnerDomains());
  const work = judgeSenders(mail, {
    domain: of.domain,
    modes: { dkim: 'r', spf: 'r' },
    toOrganizationalDomain,
    nameService: await loadNamer(of.domain),
    findMark: (subject) => marks.get(subject)?.mark,
    isSister: await loadSisters(reader, { ...of, mail, toOrganizationalDomain }),
  });
  return await runInTurns(work);
}

interface SistersQuery extends Omit<MailQuery, 'marks'> {
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

const keepSenders = keepFinding<BySource>({
  name: 'senders',
  toBytes: ({ size }) => 500 * (1 + size),
});

/** The senders of a range, for who reads its pages. `version` is another one when something changes by which they are judged. */
export async function keepJudged(
  deps: JudgeDeps,
  query: JudgedQuery,
  version: string,
): Promise<BySource> {
  const { scope, range } = query;
  const key = `${scope.domainId} ${range.from} ${range.to}`;
  return await keepSenders(deps.reader, { key, version }, async () => {
    const { sources } = await readJudged(deps, query);
    return new Map(sources.map((source) => [source.address, source]));
  });
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
