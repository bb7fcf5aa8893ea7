import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';

/** The order in which reports arrived and alerts changed, for clients that follow it (store/lists/points.ts). */
export async function up(given: Kysely<never>): Promise<void> {
  await createPoints(given);
  await addHeads(given);
  await addPositions(given);
  const db = given as unknown as Kysely<Owners>;
  await placeReports(db);
  await placeAlerts(db, 'account');
  await placeAlerts(db, 'domain');
}

async function createPoints(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('list_point')
    .addColumn('list_id', 'text', (c) => c.notNull())
    .addColumn('position', 'bigint', (c) => c.notNull())
    .addColumn('mark', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('list_point_key', ['list_id', 'position'])
    .execute();
  await db.schema
    .createTable('list_gap')
    .addColumn('list_id', 'text', (c) => c.notNull())
    .addColumn('position', 'bigint', (c) => c.notNull())
    .addColumn('mark', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('list_gap_key', ['list_id', 'position'])
    .execute();
  await db.schema
    .createTable('list_gap_block')
    .addColumn('list_id', 'text', (c) => c.notNull())
    .addColumn('block', 'bigint', (c) => c.notNull())
    .addColumn('gaps', 'bigint', (c) => c.notNull())
    .addColumn('marks', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('list_gap_block_key', ['list_id', 'block'])
    .execute();
}

async function addHeads(db: Kysely<never>): Promise<void> {
  const heads = [
    ['account', 'alerts'],
    ['domain', 'alerts'],
    ['domain', 'reports'],
  ] as const;
  for (const [table, list] of heads) {
    const alter = () => db.schema.alterTable(table);
    await alter()
      .addColumn(`${list}_position`, 'bigint', (c) => c.notNull().defaultTo(0))
      .execute();
    await alter()
      .addColumn(`${list}_mark`, 'text', (c) => c.notNull().defaultTo(''))
      .execute();
  }
}

async function addPositions(db: Kysely<never>): Promise<void> {
  const columns = [
    ['report', 'position'],
    ['alert', 'account_position'],
    ['alert', 'domain_position'],
    ['alert', 'update_mark'],
  ] as const;
  for (const [table, column] of columns) {
    await db.schema
      .alterTable(table)
      .addColumn(column, 'bigint', (c) => c.notNull().defaultTo(0))
      .execute();
  }
  await sql`
    update report set position = placed.position from (
      select seq, row_number() over (partition by domain_id order by seq) as position from report
    ) as placed where placed.seq = report.seq`.execute(db);
  await db.schema
    .createIndex('report_arrival')
    .on('report')
    .columns(['domain_id', 'position'])
    .execute();
  for (const owner of ['account', 'domain'] as const) {
    const [id, position] = [sql.ref(`${owner}_id`), sql.ref(`${owner}_position`)];
    await sql`
      update alert set ${position} = placed.position from (
        select seq, row_number() over (
          partition by ${id} order by coalesce(resolved_at, fired_at), seq) as position from alert
      ) as placed where placed.seq = alert.seq`.execute(db);
    await db.schema
      .createIndex(`alert_change_by_${owner}`)
      .on('alert')
      .columns([`${owner}_id`, `${owner}_position`])
      .execute();
    await db.schema
      .createIndex(`alert_open_change_by_${owner}`)
      .on('alert')
      .columns([`${owner}_id`, `${owner}_position`, 'update_mark'])
      .where(sql.ref('resolved_at'), 'is', null)
      .execute();
  }
}

/** The columns that exist when this runs. */
interface Owners {
  readonly account: { id: string; alerts_position: number; alerts_mark: string };
  readonly domain: {
    id: string;
    alerts_position: number;
    alerts_mark: string;
    reports_position: number;
    reports_mark: string;
  };
  readonly alert: { account_id: string; domain_id: string };
  readonly report: { domain_id: string };
  readonly list_point: { list_id: string; position: number; mark: string };
}

async function placeReports(db: Kysely<Owners>): Promise<void> {
  const domains = await db
    .selectFrom('domain')
    .leftJoin('report', 'report.domain_id', 'domain.id')
    .select(['domain.id', ({ fn }) => fn.count<number>('report.domain_id').as('items')])
    .groupBy('domain.id')
    .execute();
  for (const { id, items } of domains) {
    const mark = await insertPoints(db, `reports:${id}`, Number(items));
    await db
      .updateTable('domain')
      .set({ reports_position: Number(items), reports_mark: mark })
      .where('id', '=', id)
      .execute();
  }
}

async function placeAlerts(db: Kysely<Owners>, owner: 'account' | 'domain'): Promise<void> {
  const owners = await db.selectFrom(owner).select('id').execute();
  const counts = await db
    .selectFrom('alert')
    .select([`${owner}_id as id`, ({ fn }) => fn.countAll<number>().as('items')])
    .groupBy(`${owner}_id`)
    .execute();
  const countOf = new Map(counts.map(({ id, items }) => [id, Number(items)]));
  for (const { id } of owners) {
    const items = countOf.get(id) ?? 0;
    const mark = await insertPoints(db, `alerts:${id}`, items);
    await db
      .updateTable(owner)
      .set({ alerts_position: items, alerts_mark: mark })
      .where('id', '=', id)
      .execute();
  }
}

/** The list's first point and its newest one; returns the mark of the newest. */
async function insertPoints(db: Kysely<Owners>, listId: string, items: number): Promise<string> {
  const points = [...new Set([0, items])].map((position) => ({
    list_id: listId,
    position,
    mark: randomBytes(6).toString('base64url'),
  }));
  await db.insertInto('list_point').values(points).execute();
  return points.at(-1)?.mark ?? '';
}
