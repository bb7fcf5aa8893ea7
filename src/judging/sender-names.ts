import { loadOwnerDomains } from '../domain/dns/organizational-domain.ts';
import { type SenderName, toSenderRecordName } from '../domain/dns/sender-records.ts';
import { parseDomainName } from '../domain/domain-name.ts';
import { type Day, toDay, toInstant } from '../domain/instant.ts';
import { addTo, type Counts } from '../domain/pass-rate.ts';
import { remember } from '../domain/remember.ts';
import { parsePattern } from '../domain/reports/source-pattern.ts';
import { addPatterns } from '../domain/sources/day-sources.ts';
import type { Writable } from '../domain/sources/source.ts';
import { planState } from '../store/days/believed.ts';
import { planNewestDay } from '../store/days/views.ts';
import type { Reader } from '../store/engine/reader.ts';
import { toEvidenceRange } from './evidence.ts';
import { type ReadingStore, readStored } from './reads.ts';
import { type Counted, sumRange } from './summed-range.ts';

/** Names of a domain that reports have and DNS is asked for, and how many of them are of SPF records. */
const [MAX_NAMES, MAX_SPF] = [50, 5];

interface NamesQuery {
  readonly domainId: string;
  readonly name: string;
  readonly now: Date;
}

/**
 * Whose SPF records and keys DNS is asked for: the domain's own, and those that reports of its last month name, with which
 * most messages passed. What strangers make up comes last, since nothing passes with it.
 */
export async function listSenderNames(store: ReadingStore, { now, ...query }: NamesQuery) {
  const today = toDay(toInstant(now));
  const read = [findSenderNames, { ...query, today }] as const;
  return (await readStored(store, import.meta.url, read)).names;
}

/** @internal The reader's thread finds it by its name. */
export async function findSenderNames(
  reader: Reader,
  { domainId, name, today }: Omit<NamesQuery, 'now'> & { readonly today: Day },
): Promise<Counted & { readonly names: readonly SenderName[] }> {
  const newest = await reader.readPlan(function* () {
    const { reporters: view } = yield* planState({ domainId, today });
    return yield* planNewestDay({ domainId, view });
  });
  const range = toEvidenceRange({ from: today, to: newest ?? today });
  const { summed, counted } = await sumRange(reader, { domainId, range, today });
  const patterns = new Map<string, number>();
  for (const source of summed.sources.values()) addPatterns(patterns, source.patterns);
  const toOwner = remember(await loadOwnerDomains());
  const isOwn = (domain: string) => toOwner(domain) === toOwner(name);
  const sums = sumNames(patterns, isOwn).sort(byPassed);
  const isSpf = ({ domain, selector }: NameSum) => selector === null && domain !== name;
  const spf = new Set(sums.filter(isSpf).slice(0, MAX_SPF));
  const named = sums.filter((sum) => sum.selector !== null || spf.has(sum)).slice(0, MAX_NAMES);
  const own: SenderName = { domain: name, selector: null, isProven: true };
  return { names: [own, ...named.map(toSenderName)], counted };
}

type NameSum = Omit<SenderName, 'isProven'> & Writable<Counts>;

/** `aligned` are the messages that passed with a name. */
function sumNames(
  patterns: Iterable<readonly [text: string, messages: number]>,
  isOwn: (domain: string) => boolean,
): NameSum[] {
  const sums = new Map<string, NameSum>();
  for (const [text, messages] of patterns)
    for (const { domain, selector, result } of listNames(text)) {
      const name = toSenderRecordName({ domain, selector });
      const key = `${selector === null} ${name}`;
      const known = sums.get(key);
      if (known === undefined && !(isOwn(domain) && parseDomainName(name) === name)) continue;
      const sum = known ?? { domain, selector, messages: 0, aligned: 0 };
      addTo(sum, { messages, aligned: result === 'pass' ? messages : 0 });
      sums.set(key, sum);
    }
  return [...sums.values()];
}

function listNames(text: string) {
  const { spf, dkim } = parsePattern(text);
  const signed = dkim.filter(({ selector }) => selector);
  return [{ ...spf, selector: null }, ...signed].flatMap(({ domain, selector, result }) =>
    domain ? [{ domain, selector, result }] : [],
  );
}

const byPassed = (a: NameSum, b: NameSum) =>
  b.aligned - a.aligned ||
  b.messages - a.messages ||
  (toSenderRecordName(a) < toSenderRecordName(b) ? -1 : 1);

const toSenderName = ({ domain, selector, aligned }: NameSum): SenderName => {
  return { domain, selector, isProven: aligned > 0 };
};
