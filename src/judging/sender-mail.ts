import type {
  FailingSender,
  JudgedMail,
  ScopedMail,
  UnsignedSender,
} from '../domain/domain-facts.ts';
import { addDays, type Day, daysBetween } from '../domain/instant.ts';
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
  isOwnVerdict,
  MANY_MESSAGES,
  MIN_DATA_DAYS,
  QUIET_DAYS,
  WINDOW_DAYS,
} from '../domain/readiness.ts';
import { addSafely } from '../domain/safe-sum.ts';
import { findLatest, type Latest } from '../domain/senders/latest.ts';
import type { Sender } from '../domain/senders/sender.ts';
import { addCounts, NO_COUNTS } from '../domain/sources/day-sources.ts';
import type { SeenMail, Signature } from '../domain/sources/evidence.ts';
import { toMailResults } from '../domain/sources/mail-results.ts';
import type { SourceCounts } from '../domain/sources/source.ts';
import {
  type JudgeDeps,
  type JudgedQuery,
  type JudgedRange,
  type JudgedSource,
  readJudged,
  type Seen,
  toRest,
} from './judged.ts';
import { findGuide } from './known-services.ts';

/* Whose mail a domain's mail is: what each sender sent, and what that says of the next policy. */

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
  /** Addresses that alerts ask about. */
  readonly asked: readonly string[];
}

/** Data days whose mail tells what a sender does now. */
const LATEST_DAYS = 7;

function findLatestDay({ sources }: JudgedRange, { range }: OwnQuery): Day {
  const days = new Set(sources.flatMap(({ sent }) => sent.map(({ day }) => day)));
  return [...days].sort().at(-LATEST_DAYS) ?? range.from;
}

export type OwnMail = Awaited<ReturnType<typeof readOwnMail>>;

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
  const results = toMailResults([...judged.results.values()].flat(), judged.byReporter);
  const asked = new Set(query.asked);
  const answered = judged.sources.filter(
    ({ address, sender }) => sender.mark && asked.has(address),
  );
  const marked = new Set(answered.map(({ address }) => address));
  return { senders, mail, results, marked };
}

const isOfOwner = ({ sender }: { readonly sender: Sender }) => isOwnVerdict(sender);

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
