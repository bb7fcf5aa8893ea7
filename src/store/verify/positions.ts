import { sql } from 'kysely';
import type { Tx } from '../engine/database.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { ask } from '../engine/reader.ts';
import { insertGaps, newNonce } from '../lists/points.ts';
import { change, type Mending, type Owner } from './change.ts';

/*
 * Each position of a domain's reports is one report's or a gap. A report with the position of a gap, or of an earlier
 * report, gets a new one, and what is then nobody's becomes a gap.
 */

const FOUND_AT_ONCE = 500;

/** Returns whether positions changed. */
export async function mendPositions(store: Mending, owner: Owner): Promise<boolean> {
  const params = { id: owner.id };
  let isChanged = false;
  for (const [found, write] of [
    [givenTwice, moveReports],
    [holes, fillHoles],
  ] as const) {
    const wasWrong = await change(store, owner, {
      state: headOf(params),
      find: () => ask(found(params)),
      write: (tx, rows) => write(tx, owner.id, rows),
    });
    isChanged ||= wasWrong;
  }
  return isChanged;
}

type OfDomain = { readonly id: string };

const headOf = prepareQuery<OfDomain, object>((db, param) =>
  db.selectFrom('domain').select('reports_position').where('id', '=', param('id')),
);

interface Range {
  readonly first: number;
  readonly last: number;
}

/** As `first` its position, as `last` its number. */
const givenTwice = prepareQuery<OfDomain, Range>((db, param) =>
  db
    .selectFrom('report')
    .select(({ fn }) => ['position as first', fn.max('seq').as('last')])
    .where('domain_id', '=', param('id'))
    .groupBy('position')
    .having(({ eb, exists, fn, or, selectFrom }) =>
      or([
        eb(fn.countAll(), '>', 1),
        exists(
          selectFrom('list_gap')
            .select('list_gap.position')
            .where('list_id', '=', param('id'))
            .whereRef('list_gap.position', '=', 'report.position'),
        ),
      ]),
    )
    .limit(FOUND_AT_ONCE),
);

async function moveReports(tx: Tx, id: string, reports: readonly Range[]): Promise<void> {
  const nonce = newNonce();
  const { newest } = await tx
    .selectFrom('report')
    .select(({ fn }) => fn.max('position').as('newest'))
    .where('domain_id', '=', id)
    .executeTakeFirstOrThrow();
  for (const [i, { first, last: seq }] of reports.entries())
    await tx
      .updateTable('report')
      .set({ position: newest + 1 + i, nonce })
      .where('domain_id', '=', id)
      .where('position', '=', first)
      .where('seq', '=', seq)
      .execute();
}

/** Between two positions that are somebody's. */
const holes = prepareQuery<OfDomain, Range>((db, param) => {
  const known = sql`select position from report where domain_id = ${param('id')}
    union all select position from list_gap where list_id = ${param('id')}
    union all select min(position) from list_point where list_id = ${param('id')}`;
  return db
    .selectFrom(
      sql<{ position: number; before: number | null }>`(select position,
        lag(position) over (order by position) as before from (${known}) as k)`.as('known'),
    )
    .select([sql<number>`before + 1`.as('first'), sql<number>`position - 1`.as('last')])
    .where(sql<boolean>`position > before + 1`)
    .limit(FOUND_AT_ONCE);
});

async function fillHoles(tx: Tx, id: string, found: readonly Range[]): Promise<void> {
  let left = FOUND_AT_ONCE;
  for (const { first, last } of found) {
    const length = Math.min(left, last - first + 1);
    if (length <= 0) break;
    await insertGaps(
      tx,
      id,
      Array.from({ length }, (_, i) => first + i),
    );
    left -= length;
  }
}
