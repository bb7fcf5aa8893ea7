import { sql } from 'kysely';
import type { Db } from '../../src/store/engine/database.ts';
import { IS_POSTGRES } from './store.ts';

interface Braked {
  readonly table: string;
  /** `insert`, or the update of one column. */
  readonly at: 'insert' | `update of ${string}`;
  /** Only when the table has at least so many rows. */
  readonly fromRows?: number;
}

/** Makes a kind of write fail with the message “brake”. Returns what ends that. */
export async function putBrake(
  db: Db,
  braked: Braked,
  isPostgres = IS_POSTGRES,
): Promise<() => Promise<void>> {
  const { create, remove } = isPostgres ? inPostgres(braked) : inSqlite(braked);
  const run = (statements: readonly string[]) =>
    db.write(async (tx) => {
      for (const statement of statements) await sql.raw(statement).execute(tx);
    });
  await run(create);
  return () => run(remove);
}

function inSqlite({ table, at, fromRows = 0 }: Braked) {
  const enough = `when (select count(*) from ${table}) >= ${fromRows}`;
  return {
    create: [
      `create trigger brake before ${at} on ${table} ${enough} begin select raise(abort, 'brake'); end`,
    ],
    remove: ['drop trigger brake'],
  };
}

function inPostgres({ table, at, fromRows = 0 }: Braked) {
  return {
    create: [
      `create function brake() returns trigger language plpgsql as $$ begin
        if (select count(*) from ${table}) >= ${fromRows} then raise exception 'brake'; end if;
        return new; end $$`,
      `create trigger brake before ${at} on ${table} for each row execute function brake()`,
    ],
    remove: [`drop trigger brake on ${table}`, 'drop function brake'],
  };
}
