import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import type { Tables } from '../../tables.ts';
import type { StoreOptions } from '../open.ts';
import { createPool, type PoolOptions, toKyselyPool } from './pool.ts';
import { PostgresWordsCompiler } from './words.ts';

/** A pool of connections as Kysely uses it. */
export interface Connected {
  readonly db: Kysely<Tables>;
  readonly pool: pg.Pool;
  readonly close: () => Promise<void>;
}

type Wanted = Pick<StoreOptions, 'password' | 'warn'> &
  Pick<PoolOptions, 'maxConnections' | 'timeoutMs' | 'connectTimeoutMs'>;

/** Connects when the first query runs. */
export function connect(url: string, { warn = () => {}, ...wanted }: Wanted): Connected {
  const pool = createPool(url, { ...wanted, warn });
  const db = new Kysely<Tables>({ dialect: new PlumblineDialect({ pool: toKyselyPool(pool) }) });
  return { db, pool, close: () => pool.end() };
}

/** Kysely's dialect, with the types of columns in PostgreSQL's words. */
class PlumblineDialect extends PostgresDialect {
  override createQueryCompiler(): PostgresWordsCompiler {
    return new PostgresWordsCompiler();
  }
}
