import { toDay, toInstant } from '../domain/instant.ts';
import { remember } from '../domain/remember.ts';
import { parsePattern } from '../domain/reports/source-pattern.ts';
import type { Network } from '../domain/sources/network.ts';
import { type BySource, type JudgedSource, keepJudged } from '../judging/judged.ts';
import { findSourcesState, type SourcesState } from '../judging/source-list.ts';
import type { SourceSum } from '../judging/summed-range.ts';
import type { Reader } from '../store/engine/reader.ts';
import { hashVersion } from './computed-version.ts';
import { toRange } from './day-range.ts';
import { toDispositions } from './dispositions.ts';
import { toNetworkText } from './filters.ts';
import type { Handler } from './operation.ts';
import { type ServedVerdict, toVerdict } from './verdicts.ts';

export const listSources = (({ accountId, path, query }, given) => {
  const { now, networks, days, findKnown } = given;
  const { from, until, order, failing, verdict, service, address, ...page } = query;
  const { domain_id: domainId } = path;
  const scope = { accountId, domainId };
  const today = toDay(toInstant(now()));
  const range = toRange({ from, until }, today);
  const wanted = {
    isFailing: failing === 'true',
    address: address === undefined ? undefined : toNetworkText(address),
  };
  const sender = { verdict, service: service?.toLowerCase() };
  const findState = (reader: Reader) => findSourcesState(reader, scope, today);
  const toKnown = async ({ version, reporters, marks }: SourcesState) => {
    const marked = [...marks].map(([subject, { mark }]) => [subject, mark]);
    return hashVersion([version, reporters, range, marked, await findKnown()]);
  };
  const toVersion = (known: string) => hashVersion([known, order, wanted, sender]);
  return {
    missing: 'No such domain.',
    findVersion: async (reader) => {
      const state = await findState(reader);
      return state && toVersion(await toKnown(state));
    },
    read: async (reader) => {
      const state = await findState(reader);
      if (state === undefined) return undefined;
      // What is read after it may be newer than this version, which is another one then.
      const known = await toKnown(state);
      const judging = { scope, name: state.domain, range };
      const judged = await keepJudged({ reader, days, networks }, judging, known);
      const among = listMeant(judged, sender);
      const found = await days.readSources({ scope, range, order, among, ...wanted, ...page });
      const parse = remember(parsePattern);
      const data = found.sources.map((source) => ({
        ...toItem(source),
        dispositions: toDispositions(
          source.patterns.entries().map(([text, count]) => [parse(text).disposition, count]),
          source.messages,
        ),
        mark: found.marks.get(source.address)?.mark ?? null,
        network: networks?.find(source.address) ?? NO_NETWORK,
        ...toSender(judged.get(source.address)),
      }));
      const { total, unlisted, reporters, aside } = found;
      const shown = { data, total, unlisted_messages: unlisted, reporters };
      const setAside = { set_aside_reports: aside.reports, set_aside_messages: aside.messages };
      return { version: toVersion(known), body: { ...shown, ...setAside } };
    },
  };
}) satisfies Handler<'listSources'>;

interface MeantSender {
  readonly verdict: ServedVerdict | undefined;
  /** The name of its service, in lower case. */
  readonly service: string | undefined;
}

/** The addresses of senders that are meant; undefined when all are. */
function listMeant(judged: BySource, { verdict, service }: MeantSender) {
  if (verdict === undefined && service === undefined) return undefined;
  const isMeant = ({ sender }: JudgedSource) =>
    (verdict === undefined || toVerdict(sender.verdict) === verdict) &&
    (service === undefined || sender.service?.name?.toLowerCase() === service);
  return [...judged.values()].filter(isMeant).map(({ address }) => address);
}

function toItem(source: Omit<SourceSum, 'sent'>) {
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

/** undefined: not judged. */
function toSender(judged: JudgedSource | undefined) {
  const { name = null, kind = null, by = null, domain = null } = judged?.sender.service ?? {};
  return {
    service: { name, kind, evidence: by, domain },
    sender: judged?.sender.title ?? null,
    verdict: judged === undefined ? null : toVerdict(judged.sender.verdict),
    reasons: judged?.sender.reasons ?? [],
    standing: judged?.standing ?? null,
  };
}

const NO_NETWORK: Network = { asn: null, organisation: null, country: null };
