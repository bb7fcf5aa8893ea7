import type { Expression } from 'kysely';
import type { Day } from '../../domain/instant.ts';
import type { SourceTally } from '../../domain/reports/aggregate-report.ts';
import { MAX_SOURCES } from '../../domain/reports/source-counts.ts';
import { addSafely } from '../../domain/safe-sum.ts';
import type { Tx } from '../connection/database.ts';
import { prepareQuery, runAllPrepared } from '../connection/prepared.ts';
import { addedSafely } from '../connection/safe-sum.ts';

/*
 * What each address sent in a domain's name, day by day. The day's totals (`domain_day`) are always exact.
 * Only the largest addresses are kept, so that a flood of them needs bounded space.
 */

/** What addresses sent on one day, by address. */
export type SourcesOfDay = Map<string, { messages: number; aligned: number }>;

interface DomainDay {
  readonly domainId: string;
  readonly day: Day;
}

export function addSources(to: SourcesOfDay, sources: readonly SourceTally[]): void {
  for (const { address, messages, aligned } of sources) {
    const known = to.get(address);
    if (known === undefined) to.set(address, { messages, aligned });
    else {
      known.messages = addSafely(known.messages, messages);
      known.aligned = addSafely(known.aligned, aligned);
    }
  }
}

/** What came to a day, which may then have up to `atMost` sources. */
interface ArrivedSources {
  readonly domainDay: DomainDay;
  readonly sources: SourcesOfDay;
  readonly atMost: number;
}

/** Adds sources to days, and keeps the largest of each. */
export async function countSources(tx: Tx, days: readonly ArrivedSources[]): Promise<void> {
  await runAllPrepared(tx, toUpserts(days.flatMap(toRows)));
  for (const { domainDay, atMost } of days)
    if (atMost > MAX_SOURCES) await keepLargest(tx, domainDay);
}

interface SourceRow extends DomainDay {
  readonly address: string;
  readonly messages: number;
  readonly aligned: number;
}

function toRows({ domainDay, sources }: ArrivedSources): SourceRow[] {
  return [...sources].map(([address, counts]) => ({ ...domainDay, address, ...counts }));
}

function toUpserts(rows: readonly SourceRow[]) {
  const upserts: ReturnType<typeof toUpsert>[] = [];
  for (let from = 0; from < rows.length; ) {
    const left = rows.length - from;
    const size = UPSERT_SIZES.find((rows) => rows <= left) ?? 1;
    upserts.push(toUpsert(rows.slice(from, from + size)));
    from += size;
  }
  return upserts;
}

const SOURCE_COLUMNS = ['domainId', 'day', 'address', 'messages', 'aligned'] as const;
/** Rows that one statement writes: several, because a statement of its own costs more than the row. */
const UPSERT_SIZES = [64, 8, 4, 2, 1] as const;
const UPSERTS = new Map(UPSERT_SIZES.map((size) => [size as number, prepareUpsert(size)]));

function toUpsert(rows: readonly SourceRow[]) {
  const values: Record<string, string | number> = {};
  for (const [i, row] of rows.entries())
    for (const name of SOURCE_COLUMNS) values[`${name}${i}`] = row[name];
  return (UPSERTS.get(rows.length) as ReturnType<typeof prepareUpsert>)(values);
}

function prepareUpsert(size: number) {
  return prepareQuery<Readonly<Record<string, string | number>>, never>((db, param) => {
    const rows = Array.from({ length: size }, (_, i) => ({
      domain_id: param(`domainId${i}`) as Expression<string>,
      day: param(`day${i}`) as Expression<string>,
      address: param(`address${i}`) as Expression<string>,
      messages: param(`messages${i}`) as Expression<number>,
      aligned: param(`aligned${i}`) as Expression<number>,
    }));
    return db
      .insertInto('domain_source_ip')
      .values(rows)
      .onConflict((oc) =>
        oc.columns(['domain_id', 'day', 'address']).doUpdateSet(() => ({
          messages: addedSafely('domain_source_ip.messages', 'excluded.messages'),
          aligned: addedSafely('domain_source_ip.aligned', 'excluded.aligned'),
        })),
      );
  });
}

/**
 * An address that was dropped and comes again is counted from zero: its count may be too small, never too
 * large.
 */
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

/** Sets a day's count of addresses to the number of its rows. */
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
