import { setTimeout as sleep } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from 'kysely';
import { LRUCache } from 'lru-cache';

/** How long a transaction waits for another process's before it gives up, in milliseconds. */
const MAX_WAIT_MS = 10_000;
const RETRY_MS = 10;
/** How many statements are kept prepared; the product has fewer. */
const MAX_STATEMENTS = 200;

/** Kysely's SQLite dialect on one connection, with transactions that wait well and statements prepared once. */
export class PatientSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;

  constructor(connection: Database.Database) {
    const config = { database: withPreparedStatements(connection) };
    super(config);
    this.#config = config;
  }

  override createDriver(): Driver {
    return new PatientSqliteDriver(this.#config);
  }
}

/**
 * A transaction takes the write lock when it begins: one that reads first, and then finds that another
 * process has written, would fail. And it waits for the lock without holding up the process, which
 * SQLite's own busy timeout would do to every request under way.
 */
class PatientSqliteDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const giveUpAt = Date.now() + MAX_WAIT_MS;
    while (!(await tryBegin(connection, giveUpAt))) await sleep(RETRY_MS);
  }
}

const BEGIN = CompiledQuery.raw('begin immediate');

async function tryBegin(connection: DatabaseConnection, giveUpAt: number): Promise<boolean> {
  try {
    await connection.executeQuery(BEGIN);
    return true;
  } catch (error) {
    const isBusy = (error as { code?: string }).code === 'SQLITE_BUSY';
    if (!isBusy || Date.now() > giveUpAt) throw error;
    return false;
  }
}

/** What Kysely needs of a connection. It would prepare each statement anew, each time. */
function withPreparedStatements(connection: Database.Database) {
  const statements = new LRUCache<string, Database.Statement>({ max: MAX_STATEMENTS });
  const prepare = (sql: string) => {
    const statement = statements.get(sql) ?? connection.prepare(sql);
    statements.set(sql, statement);
    return statement as Database.Statement<unknown[]>;
  };
  return { prepare, close: () => connection.close() };
}
