import { sql } from 'kysely';
import type { Day } from '../../../domain/instant.ts';
import type { SourceTally } from '../../../domain/reports/aggregate-report.ts';
import { MAX_SOURCES } from '../../../domain/reports/source-counts.ts';
import { addSafely } from '../../../domain/safe-sum.ts';
import type { Tx } from '../../engine/database.ts';
import { addedSafely } from '../../engine/dialect.ts';
import { prepareRows } from '../../engine/many-rows.ts';
import type { BoundQuery } from '../../engine/prepared.ts';
import { addPattern, type DomainDay, type PatternCounts, renderDetails } from './details.ts';
import { isTimeToShorten, shortenDetails } from './long-details.ts';

/*
 * What each address sent in a domain's name, day by day. The day's totals (`domain_day`) are always exact.
 * Only the largest addresses are kept, so that a flood of them needs bounded space.
 */

export interface SourceOfDay {
  messages: number;
  aligned: number;
  dkimAligned: number;
  spfAligned: number;
  readonly patterns: PatternCounts;
}

/** What addresses sent on one day, by address. */
export type SourcesOfDay = Map<string, SourceOfDay>;

/** Adds the sources of a report to a day. `toId` returns the id of a pattern of the report. */
export function addSources(
  to: SourcesOfDay,
  sources: readonly SourceTally[],
  toId: (pattern: string) => string,
): void {
  for (const { address, messages, aligned, dkimAligned = 0, spfAligned = 0, patterns } of sources) {
    const source = to.get(address) ?? noMessages();
    source.messages = addSafely(source.messages, messages);
    source.aligned = addSafely(source.aligned, aligned);
    source.dkimAligned = addSafely(source.dkimAligned, dkimAligned);
    source.spfAligned = addSafely(source.spfAligned, spfAligned);
    for (const { pattern, messages } of patterns ?? [])
      addPattern(source.patterns, toId(pattern), messages);
    to.set(address, source);
  }
}

function noMessages(): SourceOfDay {
  return { messages: 0, aligned: 0, dkimAligned: 0, spfAligned: 0, patterns: new Map() };
}

export interface ArrivedSources extends DomainDay {
  readonly sources: SourcesOfDay;
}

export function toSourceUpserts(days: readonly ArrivedSources[]): BoundQuery<never>[] {
  return sourceUpserts(days.flatMap(toRows));
}

/** A day to which sources were added. It has at most `atMost` of them now. */
export interface CountedDay extends DomainDay {
  readonly atMost: number;
  /** The number of the day's reports before and after. */
  readonly reports: readonly [before: number, after: number];
}

export async function boundSources(tx: Tx, days: readonly CountedDay[]): Promise<void> {
  for (const day of days) {
    if (day.atMost > MAX_SOURCES) await keepLargest(tx, day);
    if (isTimeToShorten(day.reports)) await shortenDetails(tx, day);
  }
}

const SOURCE_COLUMNS = [
  'domain_id',
  'day',
  'address',
  'messages',
  'aligned',
  'dkim_aligned',
  'spf_aligned',
  'details',
] as const;

type SourceRow = {
  readonly domain_id: string;
  readonly day: Day;
  readonly address: string;
  readonly messages: number;
  readonly aligned: number;
  readonly dkim_aligned: number;
  readonly spf_aligned: number;
  readonly details: string;
};

function toRows({ domainId, day, sources }: ArrivedSources): SourceRow[] {
  return [...sources].map(
    ([address, { messages, aligned, dkimAligned, spfAligned, patterns }]) => ({
      ...{ domain_id: domainId, day, address, messages, aligned },
      ...{ dkim_aligned: dkimAligned, spf_aligned: spfAligned, details: renderDetails(patterns) },
    }),
  );
}

const sourceUpserts = prepareRows<SourceRow, never>(SOURCE_COLUMNS, (db, rows) =>
  db
    .insertInto('domain_source_ip')
    .values(rows)
    .onConflict((oc) =>
      oc.columns(['domain_id', 'day', 'address']).doUpdateSet(({ ref }) => ({
        messages: addedSafely('domain_source_ip.messages', 'excluded.messages'),
        aligned: addedSafely('domain_source_ip.aligned', 'excluded.aligned'),
        dkim_aligned: addedSafely('domain_source_ip.dkim_aligned', 'excluded.dkim_aligned'),
        spf_aligned: addedSafely('domain_source_ip.spf_aligned', 'excluded.spf_aligned'),
        details: sql<string>`${ref('domain_source_ip.details')} || ${ref('excluded.details')}`,
      })),
    ),
);

/** An address that was dropped and comes again is counted from zero: its count may be too small, never too large. */
async function keepLargest(tx: Tx, { domainId, day }: DomainDay): Promise<void> {
  await tx
    .deleteFrom('domain_source_ip')
    .where('domain_id', '=', domainId)
    .where('day', '=', day)
    .where('address', 'in', (eb) =>
      eb
        .selectFrom('domain_source_ip as ranked')
        .select('ranked.address')
        .where('ranked.domain_id', '=', domainId)
        .where('ranked.day', '=', day)
        .orderBy('ranked.messages', 'desc')
        .orderBy('ranked.address')
        .limit(1_000_000)
        .offset(MAX_SOURCES),
    )
    .execute();
  await recountSources(tx, { domainId, day });
}

export async function recountSources(tx: Tx, { domainId, day }: DomainDay): Promise<void> {
  await tx
    .updateTable('domain_day')
    .set((eb) => ({
      sources: eb
        .selectFrom('domain_source_ip')
        .select((count) => count.fn.countAll<number>().as('kept'))
        .where('domain_id', '=', domainId)
        .where('day', '=', day),
    }))
    .where('domain_id', '=', domainId)
    .where('day', '=', day)
    .execute();
}
