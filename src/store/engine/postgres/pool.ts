import type { Socket } from 'node:net';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { Kysely } from 'kysely';
import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { listHosts, toShownUrl } from '../../../domain/database-address.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Tables } from '../../tables.ts';
import { createLanes } from '../lanes.ts';
import type { StoreOptions } from '../store.ts';
import { type Patience, whileAway } from './away.ts';
import { type Division, PlumblinePostgresDialect } from './dialect.ts';
import { isLost } from './errors.ts';
import { findParser, SESSION } from './values.ts';

export interface PoolOptions extends Pick<StoreOptions, 'password' | 'warn'> {
  readonly maxConnections: number;
  /** How long a statement may take; 0 for any time. */
  readonly timeoutMs: number;
  readonly lockTimeoutMs?: number;
  /** How long a query waits for a connection, in milliseconds: for a free one, or for a new one. */
  readonly connectTimeoutMs: number;
  /** How long a new connection, and a read whose connection was lost, wait while the database is away. */
  readonly patience?: Patience | undefined;
  /** All pools of a store have one; a pool without it runs no statement that asks. */
  readonly division?: Division;
}

/** How long a statement waits for a lock: as long as a transaction waits on SQLite. */
const LOCK_TIMEOUT_MS = 15_000;
/** A process that stops in the middle of a transaction keeps its locks for this long: others wait longer for a lock. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/** After the server should have ended a statement: the server is gone, and nobody says so. */
const MAX_LATE_MS = 5_000;

export function createPool(database: string, options: PoolOptions): pg.Pool {
  const { password, maxConnections, timeoutMs, connectTimeoutMs, warn = () => {} } = options;
  // When statements have no time limit, locks have none.
  const { lockTimeoutMs = Math.min(timeoutMs, LOCK_TIMEOUT_MS) } = options;
  const hosts = listHosts(database).map((url) => parseIntoClientConfig(withLibpqModes(url)));
  const [client] = hosts as [pg.ClientConfig & { target_session_attrs?: string }];
  const pool = new pg.Pool({
    application_name: 'plumbline',
    ...client,
    ...(password === undefined || client.password ? undefined : { password }),
    options: `${client.options ?? ''} ${SESSION}`,
    types: { getTypeParser: findParser as never },
    ...(inTurn(hosts, client.target_session_attrs ?? 'any') as object),
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

/** A new connection goes to the host of the last one; after one that failed, to the next host. */
function inTurn(hosts: readonly pg.ClientConfig[], wanted: string) {
  let turn = 0;
  class Client extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      const { host, port, ssl } = hosts[turn % hosts.length] as pg.ClientConfig;
      // The pool hides the password from a spread.
      const password = config?.password;
      super({ ...config, password, host, port, ssl } as pg.ClientConfig);
      const connect = this.connect.bind(this) as (done: (error: Error | null) => void) => void;
      const { connection } = this as unknown as { connection: { readonly stream: Socket } };
      this.connect = ((done: (error: Error | null) => void) =>
        connect((error) => {
          if (error) {
            // After a failed login the driver leaves it open, which keeps a command from ending.
            connection.stream.destroy();
            turn += 1;
          }
          done(error);
        })) as never;
    }
  }
  const onConnect = async (client: pg.ClientBase) => {
    if (wanted === 'any') return;
    const { rows } = await client.query(IS_READ_ONLY);
    if (rows[0].is_read_only === ['read-only', 'standby'].includes(wanted)) return;
    turn += 1;
    throw Object.assign(new Error(`The server is not ${wanted}.`), { code: '25006' });
  };
  return { Client, onConnect };
}

const IS_READ_ONLY = `select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as is_read_only`;
/** Those of libpq, but for prefer-standby. */
const SESSION_ATTRS = ['any', 'read-write', 'primary', 'read-only', 'standby'];

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
  const attrs = url.searchParams.get('target_session_attrs') ?? 'any';
  if (!SESSION_ATTRS.includes(attrs))
    throw new Failure(
      'validation_error',
      `The target_session_attrs in ${toShownUrl(database)} must be one of: ${SESSION_ATTRS.join(', ')}.`,
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
  return toConnected(pool, options, async () =>
    wrap(await whileAway(() => pool.connect(), options.patience)),
  );
}

function toConnected(
  pool: pg.Pool,
  { division }: PoolOptions,
  connect: PostgresPool['connect'],
): Connected {
  const kysely: PostgresPool = { connect, end: async () => {}, options: pool.options };
  const dialect = new PlumblinePostgresDialect({ pool: kysely }, division);
  return { db: new Kysely<Tables>({ dialect }), pool, close: () => pool.end() };
}

/** Runs a read on a connection, and again when that is lost. Its SQL, or that of its first query, tells it from others. */
type Run = <T>(sql: string, read: (client: pg.PoolClient) => Promise<T>) => Promise<T>;

export interface ReadingPool extends Connected {
  readonly run: Run;
}

/** A pool for reads, whose `db` has no transactions. Equal reads have half of its connections: their table may be locked. */
export function connectReading(url: string, options: PoolOptions): ReadingPool {
  const pool = createPool(url, options);
  const { patience, maxConnections, connectTimeoutMs } = options;
  const inLane = createLanes(Math.max(1, Math.floor(maxConnections / 2)), connectTimeoutMs);
  const run: Run = (sql, read) => inLane(sql, () => whileAway(() => useOnce(pool, read), patience));
  const query = (text: string, values: readonly unknown[]) =>
    run(text, (client) => client.query(toQuery(text, values)));
  const connect = async () => ({ query: query as never, release: () => {} });
  return { ...toConnected(pool, options, connect), run };
}

async function useOnce<T>(pool: pg.Pool, read: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const result = await read(client).catch((error) => {
    client.release(true);
    throw error;
  });
  client.release();
  return result;
}
