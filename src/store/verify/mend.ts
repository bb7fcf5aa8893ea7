import { sql } from 'kysely';
import type { Day } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { isKept, NOT_KEPT, packSources } from '../../domain/sources/packed-sources.ts';
import { remakeAccountList } from '../account-reports/membership.ts';
import { dayOf, isCounted } from '../documents/day-counts.ts';
import { restatePolicy } from '../documents/stated-policy.ts';
import type { Db, Tx } from '../engine/database.ts';
import { runPrepared } from '../engine/prepared.ts';
import { ask } from '../engine/reader.ts';
import { recountDay, repairDay } from '../sources/recount.ts';
import { change, lockOwner, type Mending, type Owner, touchOwner } from './change.ts';
import { compareRows, type Figure, type FigureRow, toParams } from './figures.ts';
import { mendPositions } from './positions.ts';

/* Stored figures become what the rows say that they count. */

export async function mendFigures(
  store: Mending,
  figures: readonly Figure[],
  owner: Owner,
): Promise<void> {
  // The head is counted from the positions.
  let isMoved = owner.table === 'domain' && (await mendPositions(store, owner));
  for (const { table, stored, right, isOfReports } of figures) {
    if (table === 'list_gap') continue;
    const params = toParams(owner);
    const wasWrong = await change(store, owner, {
      state: stored(params),
      *find(rows) {
        return findWrong(rows, yield* ask(right(params)));
      },
      write: async (tx, wrong) => {
        if (isOfReports) return await remakeAccountList(tx, owner.id);
        for (const { at, row } of wrong) await mendRow(tx, { table, owner, at }, row);
      },
    });
    isMoved ||= wasWrong && (table === 'domain' || table === 'domain_day');
  }
  if (isMoved) await remakeListOf(store.db, owner.id);
}

/** What the list of the account's reports is made from has changed. */
async function remakeListOf(db: Db, domainId: string): Promise<void> {
  const domain = db.selectFrom('domain').select('account_id').where('id', '=', domainId);
  const accountId = (await domain.executeTakeFirst())?.account_id ?? undefined;
  if (accountId !== undefined) await db.write((tx) => remakeAccountList(tx, accountId));
}

interface WrongRow {
  readonly at: string | null;
  /** The columns that are wrong, which are all when the row is missing. */
  readonly row: FigureRow;
}

function findWrong(stored: readonly FigureRow[], right: readonly FigureRow[]): WrongRow[] {
  const wrong = compareRows(stored, right).filter(
    // Without a point, nothing says where a list begins.
    (one) => one.at !== null || one.right !== null || one.figure === 'last_report_at',
  );
  return [...Map.groupBy(wrong, ({ at }) => at)].map(([at, ones]) => {
    return { at, row: Object.fromEntries(ones.map(({ figure, right }) => [figure, right])) };
  });
}

interface Place {
  readonly table: string;
  readonly owner: Owner;
  readonly at: string | null;
}

async function mendRow(tx: Tx, place: Place, row: FigureRow): Promise<void> {
  const { table, at } = place;
  const key = toKey(place);
  const isRow = sql.join(toPairs(key), sql` and `);
  // No column of a day is null.
  if (at !== null && Object.values(row).includes(null))
    await sql`delete from ${sql.table(table)} where ${isRow}`.execute(tx);
  else {
    const update = sql`update ${sql.table(table)} set ${sql.join(toPairs(row))} where ${isRow}`;
    const { numAffectedRows } = await update.execute(tx);
    if (numAffectedRows === 0n) await insertRow(tx, table, { ...key, ...row });
  }
  if (table === 'alert_day') await mendSources(tx, key);
}

async function mendSources(tx: Tx, { domain_id = '', day = '', view }: Key): Promise<void> {
  const isRecounted = isCounted(view as View);
  const sources = packSources(await recountDay(tx, { domainId: domain_id, day }, isRecounted));
  const rows = tx.updateTable('alert_day').set({ sources }).where('domain_id', '=', domain_id);
  const kept = rows.where(sql<boolean>`coalesce(sources <> ${NOT_KEPT}, true)`);
  await kept
    .where('day', '=', day)
    .where('view', '=', view as View)
    .execute();
}

async function insertRow(tx: Tx, table: string, row: FigureRow): Promise<void> {
  await sql`insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
    values (${sql.join(Object.values(row))})`.execute(tx);
}

const toPairs = (values: FigureRow) =>
  Object.entries(values).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);

type Key = Readonly<Record<string, string>>;

function toKey({ table, owner: { id }, at }: Place): Key {
  if (at === null) return { id };
  if (table === 'list_day') return { list_id: toParams({ id }).alerts, day: at };
  const [day = at, view] = at.split(' ');
  return { domain_id: id, day, ...(view !== undefined && { view }) };
}

export async function mendDay(db: Db, owner: Owner, day: Day): Promise<void> {
  const at = { domainId: owner.id, day };
  await db.write(async (tx) => {
    await lockOwner(tx, owner);
    await restatePolicy(tx, at);
    const [stored] = await runPrepared(tx, dayOf(at));
    if (isKept(stored?.sources ?? null)) await repairDay(tx, at);
    await touchOwner(tx, owner);
  });
}
