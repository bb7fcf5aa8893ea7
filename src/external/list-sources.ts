import { Failure } from '../domain/failure.ts';
import { addDays, countDays, type DayRange, isDay, toDay, toInstant } from '../domain/instant.ts';
import { remember } from '../domain/remember.ts';
import { parsePattern } from '../domain/reports/source-pattern.ts';
import { addSafely } from '../domain/safe-sum.ts';
import type { Sighting } from '../domain/sources/evidence.ts';
import type { Network } from '../domain/sources/network.ts';
import { readJudged } from '../store/days/judged.ts';
import { readAllNames } from '../store/days/names.ts';
import { findSourcesState, type SourcesState } from '../store/days/source-list.ts';
import type { SourceSum } from '../store/days/summed-range.ts';
import type { Reader } from '../store/engine/reader.ts';
import { hashVersion } from './computed-version.ts';
import { toNetwork } from './filters.ts';
import type { Handler, NameService } from './operation.ts';
import { toVerdict } from './verdicts.ts';

export const listSources = (({ accountId, path, query }, given) => {
  const { now, networks, services, days } = given;
  const { from, until, order, failing, verdict, service, address, ...page } = query;
  const { domain_id: domainId } = path;
  const scope = { accountId, domainId };
  const today = toDay(toInstant(now()));
  const range = toRange(from, until ?? today);
  const filter = { failing: failing === 'true', service, address: address && toNetwork(address) };
  const toVersion = async (reader: Reader, { version, reporters, marks }: SourcesState) => {
    const marked = [...marks].map(([subject, { mark }]) => [subject, mark]);
    const known = [await services.findVersion(), networks?.findVersion()];
    const names = verdict && [...(await readAllNames(reader, domainId))];
    return hashVersion([version, reporters, range, order, marked, known, filter, verdict, names]);
  };
  const findState = (reader: Reader) => findSourcesState(reader, scope, today);
  const judge = async (reader: Reader, { domain: name }: SourcesState) => {
    const judged = await readJudged({ reader, days, networks }, { scope, name, range });
    const meant = judged.sources.filter(({ sender }) => toVerdict(sender.verdict) === verdict);
    return meant.map(({ address }) => address);
  };
  return {
    missing: 'No such domain.',
    findVersion: async (reader) => {
      const state = await findState(reader);
      return state && (await toVersion(reader, state));
    },
    read: async (reader) => {
      const state = verdict && (await findState(reader));
      // What is judged after it may be newer than this version, which is another one then.
      const judgedVersion = state && (await toVersion(reader, state));
      const among = state && (await judge(reader, state));
      const query = { scope, range, order, filter: { ...filter, among }, ...page };
      const found = await days.listSources(query);
      const nameService = await services.loadNamer(found.domain);
      const parse = remember(parsePattern);
      const data = found.sources.map((source) => ({
        ...toItem(source),
        ...toMail(source, { nameService, parse }),
        mark: found.marks.get(source.address)?.mark ?? null,
        network: networks?.find(source.address) ?? NO_NETWORK,
      }));
      const { total, unlisted, reporters, aside } = found;
      const shown = { data, total, unlisted_messages: unlisted, reporters };
      const setAside = { set_aside_reports: aside.reports, set_aside_messages: aside.messages };
      const version = judgedVersion ?? (await toVersion(reader, found));
      return { version, body: { ...shown, ...setAside } };
    },
  };
}) satisfies Handler<'listSources'>;

const DAYS = 30;
const MAX_DAYS = 366;

function toRange(from: string | undefined, to: string): DayRange {
  if (!isDay(to)) throw toInvalid('"until" must be a day from 1970-01-01 on.');
  const range = { from: from ?? addDays(to, 1 - DAYS), to };
  const days = countDays(range);
  if (days >= 1 && days <= MAX_DAYS) return range;
  throw toInvalid(`"from" to "until" must be 1 to ${MAX_DAYS} days, both included.`);
}

const toInvalid = (message: string) => new Failure('validation_error', message);

function toItem(source: SourceSum) {
  const { address, messages, aligned, dkimAligned, spfAligned, firstDay, lastDay } = source;
  return {
    source_ip: address,
    total_messages: messages,
    aligned_messages: aligned,
    dkim_aligned_messages: dkimAligned,
    spf_aligned_messages: spfAligned,
    first_day: firstDay,
    last_day: lastDay,
  };
}

/** What reporters said of a source's mail. Names in DNS are left out: no change of the list's version would tell of theirs. */
function toMail(
  { messages, patterns }: SourceSum,
  { nameService, parse }: { nameService: NameService; parse: typeof parsePattern },
) {
  const results = [...patterns].map(([text, messages]) => ({ seen: parse(text), messages }));
  const { name, kind, by, domain } = nameService({ results, name: undefined }) ?? NO_SERVICE;
  return {
    service: { name, kind, evidence: by, domain },
    dispositions: toDispositions(messages, results),
  };
}

const NO_SERVICE = { name: null, kind: null, by: null, domain: null };

/** Messages by what receivers did with them; `other` are those of which it is not known as well. */
function toDispositions(
  messages: number,
  results: readonly Sighting<{ readonly disposition: string | null }>[],
) {
  const sums = { none: 0, quarantine: 0, reject: 0 };
  for (const { seen, messages } of results) {
    const disposition = seen.disposition as 'none' | null;
    if (disposition !== null && Object.hasOwn(sums, disposition))
      sums[disposition] = addSafely(sums[disposition], messages);
  }
  const other = messages - sums.none - sums.quarantine - sums.reject;
  return { ...sums, other: Math.max(0, other) };
}

const NO_NETWORK: Network = { asn: null, organisation: null, country: null };
