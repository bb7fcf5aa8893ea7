import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { toShownUrl } from '../../../domain/database-address.ts';
import { Failure } from '../../../domain/failure.ts';
import { MIGRATIONS, type Step } from '../../migrations/all.ts';
import type { Tables } from '../../tables.ts';
import {
  listPending,
  type MigrateOptions,
  requireKnown,
  runQuick,
  runStep,
} from '../pending-steps.ts';
import { isRetryable } from './errors.ts';
import type { Connected } from './pool.ts';

interface Migrated extends MigrateOptions {
  readonly db: Kysely<Tables>;
  readonly mustExist: boolean;
  /** Makes one connection whose statements have no time limit. */
  readonly connect: () => Connected;
}

/** The oldest version with all that the statements use. */
const MIN_VERSION = 150_000;

/** Brings the database to the schema of this version. Processes that start together wait for one another. */
export async function migratePostgres(
  database: string,
  { db, mustExist, connect, steps = MIGRATIONS, migrate = runQuick }: Migrated,
): Promise<void> {
  let applied = await listApplied(db);
  if (applied === undefined) {
    await requireUsable(database, db, mustExist);
    // Another process may have begun since.
    applied = (await listApplied(db)) ?? [];
  }
  const shown = toShownUrl(database);
  requireKnown(shown, applied, steps);
  if (applied.length === Object.keys(steps).length) return;
  const migrating = connect();
  try {
    const on = { db: migrating.db, applied, steps };
    const run = (name: string, { isRepeatable }: Step) =>
      retryLocked(() => runStep({ ...on, name, isRepeatable }));
    await migrate(await listPending(on, run), shown);
  } finally {
    await migrating.close();
  }
}

/** A lock that was not granted in time, or a deadlock, is tried again for ten minutes: vacuum may have the table. */
const MAX_TRIES = 600;
const PAUSE_MS = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';

async function retryLocked(run: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      const isLocked = (error as { code?: string }).code === LOCK_NOT_AVAILABLE;
      if (!(isLocked || isRetryable(error)) || tries === MAX_TRIES) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

/** undefined when no migration has run. */
async function listApplied(db: Kysely<Tables>): Promise<string[] | undefined> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db);
  if (rows[0]?.exists !== true) return undefined;
  const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return applied.rows.map(({ name }) => name);
}

/** A database with tables and without migrations is that of another program: nothing is added to it. */
async function requireUsable(database: string, db: Kysely<Tables>, mustExist: boolean) {
  const { rows } = await sql<{ version: number; encoding: string; tables: string[] }>`
    select current_setting('server_version_num')::int as version,
      current_setting('server_encoding') as encoding,
      array(select tablename::text from pg_tables where schemaname = current_schema()) as tables`.execute(
    db,
  );
  const [server] = rows as [(typeof rows)[number]];
  const shown = toShownUrl(database);
  if (server.version < MIN_VERSION)
    throw new Failure('conflict', `The server of ${shown} is older than PostgreSQL 15.`);
  if (server.encoding !== 'UTF8')
    throw new Failure(
      'conflict',
      `The database ${shown} has the encoding ${server.encoding}: create one with UTF8.`,
    );
  if (server.tables.includes('kysely_migration')) return;
  if (server.tables.length > 0)
    throw new Failure(
      'conflict',
      `The database ${shown} is that of another program. Set PLUMBLINE_DATABASE to yours.`,
    );
  if (mustExist)
    throw new Failure(
      'not_found',
      `The database ${shown} is empty. Set PLUMBLINE_DATABASE to yours. “account create”, “ingest” and “serve” fill an empty one.`,
    );
}
