/** The PostgreSQL server of the bench: one that is started for it, or the one of BENCH_POSTGRES. */
import pg from 'pg';
import { startPostgres } from '../../../test/support/postgres.ts';
import { findParent, readChildrenMicros, readOwnMicros } from '../processes.ts';

export interface BenchServer {
  /** The URL of an empty database. */
  readonly url: string;
  /** Microseconds of CPU of all the server's processes; not a number when they are on another machine. */
  readonly micros: () => number;
  readonly stop: () => Promise<void>;
}

/** As durable as in production: a commit that has returned survives a power cut. */
const DURABLE = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  autovacuum: 'on',
  shared_buffers: '256MB',
  max_wal_size: '1GB',
};

export async function startBenchServer(): Promise<BenchServer> {
  const given = process.env['BENCH_POSTGRES'];
  if (given !== undefined)
    return { url: given, micros: await openCpu(given), stop: async () => {} };
  const server = await startPostgres({ settings: DURABLE });
  const url = server.toUrl('postgres');
  return { url, micros: await openCpu(url), stop: server.stop };
}

async function openCpu(url: string): Promise<() => number> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query('select pg_backend_pid() as pid');
  const server = findParent(rows[0].pid);
  await client.end();
  return () =>
    server === undefined ? Number.NaN : readOwnMicros(server) + readChildrenMicros(server);
}
