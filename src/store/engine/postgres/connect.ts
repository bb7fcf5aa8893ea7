import { Kysely } from 'kysely';
import type pg from 'pg';
import type { Tables } from '../../tables.ts';
import type { StoreOptions } from '../store.ts';
import { PlumblinePostgresDialect } from './dialect.ts';
import { createPool, type PoolOptions, toKyselyPool } from './pool.ts';

export interface Connected {
  readonly db: Kysely<Tables>;
  readonly pool: pg.Pool;
  readonly close: () => Promise<void>;
}

type ConnectOptions = Pick<StoreOptions, 'password' | 'warn'> &
  Pick<PoolOptions, 'maxConnections' | 'timeoutMs' | 'lockTimeoutMs' | 'connectTimeoutMs'>;

/** Connects when the first query runs. */
export function connect(url: string, { warn = () => {}, ...options }: ConnectOptions): Connected {
  const pool = createPool(url, { ...options, warn });
  const db = new Kysely<Tables>({
    dialect: new PlumblinePostgresDialect({ pool: toKyselyPool(pool) }),
  });
  return { db, pool, close: () => pool.end() };
}
