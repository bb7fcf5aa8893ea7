/** The PostgreSQL server of the bench: one that is started for it, or the one of BENCH_POSTGRES. */
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { startPostgres } from '../../../test/support/postgres.ts';

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
  const server = readStat(rows[0].pid)?.parent;
  await client.end();
  return () => (server === undefined ? Number.NaN : sumCpu(server));
}

/** The server's own time includes that of its processes that have ended. */
function sumCpu(server: number): number {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const stats = all.map((name) => readStat(Number(name)));
  const own = readStat(server);
  const children = stats.filter((stat) => stat?.parent === server);
  const ticks = children.reduce((sum, stat) => sum + (stat?.own ?? 0), 0);
  return ((own?.own ?? 0) + (own?.ended ?? 0) + ticks) * 10_000;
}

/** In clock ticks of 10 ms; undefined when there is no such process. */
function readStat(pid: number) {
  try {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ');
    const [, parent = 0, ...fields] = rest.split(' ').map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(9, 13);
    return { parent, own: user + system, ended: endedUser + endedSystem };
  } catch {
    return undefined;
  }
}
