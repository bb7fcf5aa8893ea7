import { randomInt } from 'node:crypto';
import { setTimeout as sleep, setImmediate as yieldToRequests } from 'node:timers/promises';
import Database from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import { Failure } from '../../../domain/failure.ts';
import { PlumblineSqliteAdapter } from './dialect.ts';

/** How long a transaction waits for the write lock before it fails with `unavailable`, in milliseconds. */
const MAX_WAIT_MS = 15_000;
const RETRY_MS = 5;
/**
 * SQLite has no queue for the write lock. After transactions that held it one after another for longer than
 * `LONG_MS`, this process leaves it alone for `REST_MS`, so that a waiting process gets it.
 */
const LONG_MS = 20;
const REST_MS = 15;
/** How many statements are kept prepared; the product has fewer. */
const MAX_STATEMENTS = 200;

/** How long a connection blocks while another process opens, recovers or closes the same file. */
const OPEN_TIMEOUT_MS = 10_000;
export const IN_MEMORY = ':memory:';
/** A larger write-ahead log is cut back to this size when it is checkpointed. */
const MAX_IDLE_LOG_BYTES = 16 * 1024 * 1024;

/** The bytes of a database are copied into memory. */
export function openConnection(path: string | Buffer, options: Database.Options = {}) {
  const connection = new Database(path, {
    ...options,
    fileMustExist: typeof path === 'string' && path !== IN_MEMORY,
    timeout: OPEN_TIMEOUT_MS,
  });
  if (options.readonly !== true) {
    // SQLite's 4 KiB give nearly every original of some 2,000 bytes a page of its own: 880 bytes more a report.
    connection.pragma('page_size = 8192');
    // What is deleted makes the file smaller (given-back.ts). In a file with tables it would wait for the write lock, and
    // change nothing.
    if (connection.pragma('page_count', { simple: true }) === 0) {
      connection.pragma('auto_vacuum = INCREMENTAL');
      // Of two processes that make the file, one gives it its number.
      connection.exec('begin immediate');
      if (connection.pragma('application_id', { simple: true }) === 0) giveNumber(connection);
      connection.exec('commit');
    }
    startLog(connection);
    // What is deleted, such as the name of a person, is overwritten: else it stays in free pages.
    connection.pragma('secure_delete = ON');
  }
  // FULL: in WAL mode a commit that has returned survives a power cut.
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  // In KiB: twice as much made no page cheaper, and an ingest costs the same with 4,000.
  connection.pragma(`cache_size = ${options.readonly === true ? -16_000 : -8_000}`);
  connection.pragma(`journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
  // From here on, the start of a transaction waits as WaitingDriver says.
  connection.pragma('busy_timeout = 0');
  return connection;
}

/** While another process opens the same new file, SQLite fails here at once, whatever its timeout. */
function startLog(connection: Database.Database): void {
  const untilMs = performance.now() + OPEN_TIMEOUT_MS;
  for (;;) {
    try {
      connection.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > untilMs) throw error;
      Atomics.wait(NEVER_WOKEN, 0, 0, RETRY_MS);
    }
  }
}

const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

/** By its number a database is told from another one whose log lies beside it. A copy gets one of its own. */
export function giveNumber(connection: Database.Database): void {
  connection.pragma(`application_id = ${randomInt(1, 2 ** 31)}`);
}

export function createSqliteDialect(connection: Database.Database): Dialect {
  return {
    createAdapter: () => new PlumblineSqliteAdapter(),
    createQueryCompiler: () => new StablePlanCompiler(),
    createDriver: () => new WaitingDriver(connection),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/**
 * SQLite prepares a statement anew when a parameter gets another value that might change its plan: one of `limit`, or
 * one that an ordered query compares with. That took longer than a page of ten reports. Behind a `+`, which does
 * nothing, a parameter is no such one; no plan here depends on values.
 */
class StablePlanCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }
}

/**
 * Requests that came in are answered before a transaction begins: SQLite's calls block the thread, and awaiting them lets
 * no other work run. A transaction takes the write lock when it begins: one that reads first fails when another process has
 * written meanwhile. It waits for the lock with timers, because SQLite's own busy timeout blocks the thread.
 */
class WaitingDriver extends SqliteDriver {
  readonly #connection: Database.Database;
  /** Whether other processes can write to the database. */
  readonly #isShared: boolean;
  /** When the present sequence of transactions without a pause between them began and ended. */
  #sequence = { begunAt: 0, endedAt: 0 };

  constructor(connection: Database.Database) {
    super({
      database: { prepare: rememberStatements(connection), close: () => connection.close() },
    });
    this.#connection = connection;
    this.#isShared = !connection.memory;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#isShared) await yieldToRequests();
    const { begunAt, endedAt } = this.#sequence;
    const pauseMs = performance.now() - endedAt;
    if (this.#isShared && endedAt - begunAt > LONG_MS && pauseMs < REST_MS)
      await sleep(REST_MS - pauseMs);
    await waitForLock(() => connection.executeQuery(BEGIN));
    const now = performance.now();
    if (now - endedAt >= RETRY_MS) this.#sequence.begunAt = now;
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    this.#sequence.endedAt = performance.now();
  }

  /** SQLite rolls back by itself after some errors, such as a full disk. A second rollback would hide the error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#connection.inTransaction) await super.rollbackTransaction(connection);
    this.#sequence.endedAt = performance.now();
  }
}

const BEGIN = CompiledQuery.raw('begin immediate');

/** Retries until no other process holds the write lock; throws `unavailable` after `MAX_WAIT_MS`. */
export async function waitForLock(begin: () => unknown): Promise<void> {
  const giveUpAt = performance.now() + MAX_WAIT_MS;
  for (;;) {
    try {
      await begin();
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    if (performance.now() > giveUpAt)
      throw new Failure('unavailable', 'The database is busy. Try again in a moment.');
    await sleep(RETRY_MS);
  }
}

export function isBusy(error: unknown): boolean {
  return String((error as { code?: string }).code).startsWith('SQLITE_BUSY');
}

/** Prepares each text once: by itself Kysely would prepare each statement each time. */
function rememberStatements(connection: Database.Database) {
  const statements = new LRUCache<string, Database.Statement<unknown[]>>({ max: MAX_STATEMENTS });
  const prepare = (sql: string) => {
    const statement = connection.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return (sql: string) => statements.get(sql) ?? prepare(sql);
}
