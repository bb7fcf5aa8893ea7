import type { Tx } from '../../engine/database.ts';
import { prepareQuery, runAllPrepared } from '../../engine/prepared.ts';
import { staleUpsertsOfDays } from '../periods.ts';
import type { DomainDay } from './details.ts';
import {
  addPattern,
  fitDetails,
  type PatternCounts,
  parseDetails,
  renderDetails,
} from './details.ts';
import type { SourceOfDay, SourcesOfDay } from './source-ips.ts';

/*
 * Changes of stored sources whose result depends on the stored rows. The caller holds the domain's lock, so that no
 * other transaction changes a row between reading and writing it. Counts of a row stay between 0 and its messages.
 */

interface Counts {
  readonly messages: number;
  readonly aligned: number;
  readonly dkim_aligned: number;
  readonly spf_aligned: number;
  readonly patterns: PatternCounts;
}

/** Replaces the stored rows of addresses by what `change` returns for them. An address without a row gets none. */
export async function changeSources(
  tx: Tx,
  { domainId, day }: DomainDay,
  { sources, change }: { readonly sources: SourcesOfDay; readonly change: Change },
): Promise<void> {
  const addresses = [...sources.keys()];
  const rows = await runAllPrepared(
    tx,
    addresses.map((address) => sourceRow({ domainId, day, address })),
  );
  const updates = addresses.flatMap((address, i) => {
    const [row, source] = [rows[i]?.[0], sources.get(address)];
    if (row === undefined || source === undefined) return [];
    return [sourceUpdate({ domainId, day, address, ...toBounded(change(toCounts(row), source)) })];
  });
  await runAllPrepared(tx, [...updates, ...staleUpsertsOfDays([{ domainId, day }])]);
}

export type Change = (counts: Counts, source: SourceOfDay) => Counts;

/** The row may have less: its sum stopped at 2^53 − 1, or the address was dropped and counted again from zero. */
export const subtractSource: Change = (counts, source) => ({
  messages: counts.messages - source.messages,
  aligned: counts.aligned - source.aligned,
  dkim_aligned: counts.dkim_aligned - source.dkimAligned,
  spf_aligned: counts.spf_aligned - source.spfAligned,
  patterns: withoutPatterns(counts.patterns, source.patterns),
});

function withoutPatterns(before: PatternCounts, patterns: PatternCounts): PatternCounts {
  const after = new Map(before);
  for (const [id, messages] of patterns) addPattern(after, id, -messages);
  return after;
}

type Row = Omit<Counts, 'patterns'> & { readonly details: string };

function toCounts({ messages, aligned, dkim_aligned, spf_aligned, details }: Row): Counts {
  return { messages, aligned, dkim_aligned, spf_aligned, patterns: parseDetails(details) };
}

function toBounded(counts: Counts): Row {
  const messages = Math.max(0, counts.messages);
  const aligned = clamp(counts.aligned, messages);
  return {
    messages,
    aligned,
    dkim_aligned: clamp(counts.dkim_aligned, aligned),
    spf_aligned: clamp(counts.spf_aligned, aligned),
    details: renderDetails(fitDetails(counts.patterns, messages)),
  };
}

function clamp(count: number, max: number): number {
  return Math.min(Math.max(0, count), max);
}

type SourceKey = { domainId: string; day: string; address: string };

const sourceRow = prepareQuery<SourceKey, Row>((db, param) =>
  db
    .selectFrom('domain_source_ip')
    .select(['messages', 'aligned', 'dkim_aligned', 'spf_aligned', 'details'])
    .where('domain_id', '=', param('domainId'))
    .where('day', '=', param('day'))
    .where('address', '=', param('address')),
);

const sourceUpdate = prepareQuery<SourceKey & Row, never>((db, param) =>
  db
    .updateTable('domain_source_ip')
    .set({
      messages: param('messages'),
      aligned: param('aligned'),
      dkim_aligned: param('dkim_aligned'),
      spf_aligned: param('spf_aligned'),
      details: param('details'),
    })
    .where('domain_id', '=', param('domainId'))
    .where('day', '=', param('day'))
    .where('address', '=', param('address')),
);
