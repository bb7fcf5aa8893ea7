import type { Socket } from 'node:net';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Kysely } from 'kysely';
import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { toShownUrl } from '../../../domain/database-address.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Tables } from '../../tables.ts';
import type { StoreOptions } from '../store.ts';
import { PlumblinePostgresDialect } from './dialect.ts';
import { isLost } from './errors.ts';
import { findParser, SESSION } from './values.ts';

interface PoolOptions extends Pick<StoreOptions, 'password' | 'warn'> {
  readonly maxConnections: number;
  /** How long a statement may take; 0 for any time. */
  readonly timeoutMs: number;
  readonly lockTimeoutMs?: number;
  /** How long a query waits for a connection, in milliseconds: for a free one, or for a new one. */
  readonly connectTimeoutMs: number;
}

/** How long a statement waits for a lock: as long as a transaction waits on SQLite. */
const LOCK_TIMEOUT_MS = 15_000;
/** A process that stops in the middle of a transaction keeps its locks for this long. */
const IDLE_IN_TRANSACTION_MS = 30_000;
/** After the server should have ended a statement: the server is gone, and nobody says so. */
const MAX_LATE_MS = 5_000;

export function createPool(database: string, options: PoolOptions): pg.Pool {
  const { password, maxConnections, timeoutMs, connectTimeoutMs, warn = () => {} } = options;
  // When statements have no time limit, locks have none.
  const { lockTimeoutMs = Math.min(timeoutMs, LOCK_TIMEOUT_MS) } = options;
  const client = parseIntoClientConfig(withLibpqModes(database));
  const pool = new pg.Pool({
    application_name: 'plumbline',
    ...client,
    ...(password === undefined || client.password ? undefined : { password }),
    options: `${client.options ?? ''} ${SESSION}`,
    types: { getTypeParser: findParser as never },
    Client: ClosingClient as never,
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs + Math.min(timeoutMs, MAX_LATE_MS),
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    // A query is sent at once, also while the connection works on an earlier one.
    pipeline: true,
  });
  // A connection that nobody uses was lost. The pool has removed it; without a listener the process would end.
  pool.on('error', warn);
  // The server may end a connection together with its answer that it is ready, which is before anyone has it.
  pool.on('connect', (connected) => connected.on('error', () => {}));
  return pool;
}

/** Closes its connection after a failed login. The driver leaves it open, which keeps a command from ending. */
class ClosingClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const connect = this.connect.bind(this) as (done: (error: Error | null) => void) => void;
    const { connection } = this as unknown as { readonly connection: { readonly stream: Socket } };
    this.connect = ((done: (error: Error | null) => void) =>
      connect((error) => {
        if (error) connection.stream.destroy();
        done(error);
      })) as never;
  }
}

/** libpq's other modes may silently use no TLS, which the driver does not do. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/** `sslmode` means what it means to libpq; the driver's default differs. */
function withLibpqModes(database: string): string {
  const url = new URL(database);
  const modes = url.searchParams.getAll('sslmode');
  if (!modes.every((mode) => SSL_MODES.includes(mode)))
    throw new Failure(
      'validation_error',
      `The sslmode in ${toShownUrl(database)} must be disable, require, verify-ca or verify-full.`,
    );
  // Any authority that the system trusts would do, and the name of the server is not checked.
  if (modes.includes('verify-ca') && !url.searchParams.get('sslrootcert'))
    throw new Failure(
      'validation_error',
      `sslmode=verify-ca in ${toShownUrl(database)} needs sslrootcert, a file with the certificate of the authority. ` +
        'Without one, use verify-full.',
    );
  if (!url.searchParams.has('uselibpqcompat')) url.searchParams.set('uselibpqcompat', 'true');
  return url.toString();
}

function toKyselyPool(pool: pg.Pool): PostgresPool {
  return {
    connect: async () => wrap(await pool.connect()),
    end: async () => {},
    options: pool.options,
  };
}

/** The pool itself removes a connection that the server has closed. */
function wrap(client: pg.PoolClient): PostgresPoolClient {
  let isBroken = false;
  const query = async (text: string, values: readonly unknown[]) => {
    try {
      return await client.query(toQuery(text, values));
    } catch (error) {
      isBroken ||= isLost(error);
      throw error;
    }
  };
  return { query: query as never, release: (discard) => client.release(discard || isBroken) };
}

/** A statement that each connection prepares once. */
export function toQuery(text: string, values: readonly unknown[]) {
  return { ...toNamed(text), values: values.map(toStorable) };
}

/** A server keeps a named statement prepared as long as the connection lives. The product has fewer. */
const MAX_NAMED = 400;
const names = new Map<string, string>();

/** Texts with lists of values have many forms: those that come late are not kept. */
function toNamed(text: string): { readonly text: string; readonly name?: string } {
  const known = names.get(text);
  if (known !== undefined) return { text, name: known };
  if (names.size >= MAX_NAMED) return { text };
  const name = `plumbline_${names.size}`;
  names.set(text, name);
  return { text, name };
}

/** PostgreSQL has no text with U+0000, which senders of mail can put into names. */
function toStorable(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0')
    ? value.replaceAll('\0', '\uFFFD')
    : value;
}

export interface Connected {
  readonly db: Kysely<Tables>;
  readonly pool: pg.Pool;
  readonly close: () => Promise<void>;
}

/** Connects when the first query runs. */
export function connectPool(url: string, options: PoolOptions): Connected {
  const pool = createPool(url, options);
  const db = new Kysely<Tables>({
    dialect: new PlumblinePostgresDialect({ pool: toKyselyPool(pool) }),
  });
  return { db, pool, close: () => pool.end() };
}
