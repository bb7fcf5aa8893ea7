import { type Kysely, sql } from 'kysely';
import { isPostgres } from './column-types.ts';

/**
 * Builds an index in a repeatable step, which has nothing else. PostgreSQL builds it while others write; `definition`
 * is what follows the name: `on report (domain_id, generator)`.
 */
export async function buildIndex(
  db: Kysely<never>,
  name: string,
  definition: string,
): Promise<void> {
  if (!isPostgres(db)) {
    await sql`create index if not exists ${sql.ref(name)} ${sql.raw(definition)}`.execute(db);
    return;
  }
  // It waits for the transactions that have begun before, and nobody waits for it.
  await sql`set lock_timeout = 0`.execute(db);
  if (await isInvalid(db, name)) await sql`drop index concurrently ${sql.ref(name)}`.execute(db);
  const create = sql`create index concurrently if not exists ${sql.ref(name)}`;
  await sql`${create} ${sql.raw(definition)}`.execute(db);
  await sql`reset lock_timeout`.execute(db);
}

/** One whose building was interrupted is there, and is not used. */
async function isInvalid(db: Kysely<never>, name: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_index where indexrelid = to_regclass(${name}) and not indisvalid`.execute(db);
  return rows.length > 0;
}
