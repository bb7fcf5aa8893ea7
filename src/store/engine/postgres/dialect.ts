import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Kysely,
  PostgresAdapter,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresQueryCompiler,
  type RawNode,
  sql,
} from 'kysely';
import { Failure } from '../../../domain/failure.ts';
import type { Tables } from '../../tables.ts';
import {
  type AdapterWithDialect,
  type Dialect,
  type DividedNode,
  type JsonFields,
  orDivided,
} from '../dialect.ts';

const POSTGRES_DIALECT: Dialect = {
  isDivided: false,
  // `json_build_object` writes spaces around its colons; `row_to_json` writes the same text as SQLite.
  jsonRow: (fields) =>
    orDivided(
      sql`(select row_to_json(item)::text from (select ${sql.join(toColumns(fields))}) as item)`,
      toJsonText(fields),
    ),
  // PostgreSQL computes the columns of skipped rows too. The outer query does nothing that changes the order. What Citus
  // sends to a server is ordered by the name of a column alone, which would be that of a field, and no index has its order.
  jsonRows: (fields, from) =>
    orDivided(
      sql`select row_to_json(page)::text as item from (select ${sql.join(toColumns(fields))} ${from}) as page`,
      sql`select ${toJsonText(fields)} as item ${from}`,
    ),
  asJson: (column) => sql`${column}::json`,
  // 0.25 µs an instant; to_char takes 0.45 µs. row_to_json would write `+00:00` instead of `Z`.
  asInstant: (column) => sql`replace((${column} at time zone 'UTC')::text, ' ', 'T') || 'Z'`,
  // A join with the list could be planned as a scan of all days of a domain.
  isIn: (column, list, type) =>
    sql`${column} = any(array(select json_array_elements_text(${list}::json)::${sql.raw(type)}))`,
  typed: (value, type) => sql`${value}::${sql.raw(type)}`,
  // Citus takes no time that passes while a statement runs.
  clockMs: orDivided(toMs('clock_timestamp'), toMs('statement_timestamp')),
  // Foreign keys may go on to refer to the row.
  locked: (query) => query.forNoKeyUpdate(),
  giveBackPages: async () => 0,
  lockName: async (tx, name) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, ${LOCKS}))`.execute(tx);
  },
  // All are sent before the first answer is there: after an error the server refuses the others.
  runAll: (connection, statements) =>
    Promise.all(statements.map((statement) => connection.executeQuery(statement))),
};

const CITUS_DIALECT: Dialect = { ...POSTGRES_DIALECT, isDivided: true };

/** The text of `row_to_json`. Citus refuses a subquery of values of several servers' rows. */
function toJsonText(fields: JsonFields) {
  const parts = Object.entries(fields).map(
    ([name, value]) => sql`${sql.lit(`"${name}":`)} || coalesce(to_json(${value})::text, 'null')`,
  );
  return sql<string>`('{' || ${sql.join(parts, sql` || ',' || `)} || '}')`;
}

function toMs(clock: string) {
  return sql<number>`(extract(epoch from ${sql.raw(clock)}()) * 1000)::bigint`;
}

/** What is found when the database is opened. Statements are compiled after that. */
export interface Division {
  isDivided: boolean;
}

/** Whether `docs/operate/postgres/citus.sql` has divided the database, which makes the function. */
export async function readDivision(db: Kysely<Tables>): Promise<boolean> {
  const found = sql<Division>`select to_regproc('domain_seq') is not null as "isDivided"`;
  return (await found.execute(db)).rows[0]?.isDivided === true;
}

function toColumns(fields: JsonFields) {
  return Object.entries(fields).map(([name, value]) => sql`${value}`.as(name));
}

/** Keeps these locks apart from the advisory locks of other programs in the same database. */
const LOCKS = 20_251_121;

/** How often a process asks for the lock of migrations: for an hour. */
const MAX_LOCK_TRIES = 36_000;
const LOCK_PAUSE_MS = 100;

class PlumblinePostgresAdapter extends PostgresAdapter implements AdapterWithDialect {
  readonly #division: Division;

  constructor(division: Division) {
    super();
    this.#division = division;
  }

  get dialect(): Dialect {
    return this.#division.isDivided ? CITUS_DIALECT : POSTGRES_DIALECT;
  }

  /**
   * Asks again and again: a statement that waits for the lock has a snapshot, and the process that has the lock would
   * wait for that snapshot when it builds an index concurrently.
   */
  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    for (let tries = 0; tries < MAX_LOCK_TRIES; tries += 1) {
      const lock = sql<{ is_held: boolean }>`select pg_try_advisory_lock(${LOCKS}) as is_held`;
      if ((await lock.execute(db)).rows[0]?.is_held) return;
      await sleep(LOCK_PAUSE_MS);
    }
    throw new Failure('unavailable', 'Another process still migrates the database.');
  }

  override async releaseMigrationLock(db: Kysely<unknown>): Promise<void> {
    await sql`select pg_advisory_unlock(${LOCKS})`.execute(db);
  }
}

class PlumblineQueryCompiler extends PostgresQueryCompiler {
  readonly #division: Division;

  constructor(division: Division) {
    super();
    this.#division = division;
  }

  protected override visitRaw(node: RawNode & DividedNode): void {
    const divided = this.#division.isDivided ? (node.divided as RawNode | undefined) : undefined;
    super.visitRaw(divided ?? node);
  }
}

export class PlumblinePostgresDialect extends PostgresDialect {
  readonly #division: Division;

  constructor(config: PostgresDialectConfig, division: Division = { isDivided: false }) {
    super(config);
    this.#division = division;
  }

  override createAdapter(): PlumblinePostgresAdapter {
    return new PlumblinePostgresAdapter(this.#division);
  }

  override createQueryCompiler(): PlumblineQueryCompiler {
    return new PlumblineQueryCompiler(this.#division);
  }
}
