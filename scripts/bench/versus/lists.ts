import { createDatabase } from '../../postgres-database.ts';
import { known } from '../known.ts';
import type { Load } from '../paths.ts';
import { startBenchServer } from '../postgres/server.ts';
import { type Contender, compare, startPlumbline } from '../race.ts';
import { POSTGRES_SCENARIOS, SCENARIOS, type Scenario, toLoad } from '../scenarios.ts';
import { fill } from '../storage/fill.ts';
import type { Filled } from '../storage/fill-job.ts';
import { tell } from './tell.ts';
import type { Databases, Version } from './versions.ts';

const REPORTS = Number(process.env['BENCH_REPORTS'] ?? 200_000);
const POSTGRES_REPORTS = Number(process.env['BENCH_REPORTS'] ?? 100_000);
/** Of scenarios.ts; the bench of the API alone has more. */
const NAMES = ['304', 'first page afresh', 'last page afresh', 'random page'];
NAMES.push('walk of every page of 200', 'PostgreSQL: 304');
NAMES.push('PostgreSQL: first page', 'PostgreSQL: random page');
const CURSOR: Scenario = { name: 'page after a cursor', page: 'first', pageCacheMb: '0' };

interface Wanted {
  readonly open: Databases;
  readonly wanted: string;
}

export async function versusLists(
  versions: readonly Version[],
  { open, wanted }: Wanted,
): Promise<void> {
  const scenarios = [...SCENARIOS.filter(({ name }) => NAMES.includes(name)), CURSOR];
  for (const scenario of scenarios.filter(({ name }) => name.includes(wanted))) {
    const filled: Filled[] = [];
    for (const version of versions) filled.push(await open(version, 'domain', REPORTS));
    tell(
      scenario.name,
      (await race(versions, filled, scenario)).map(({ micros }) => micros),
    );
  }
}

export async function versusListsOnPostgres(
  versions: readonly Version[],
  wanted: string,
): Promise<void> {
  const scenarios = POSTGRES_SCENARIOS.filter(
    ({ name }) => NAMES.includes(name) && name.includes(wanted),
  );
  if (scenarios.length === 0) return;
  const server = await startBenchServer();
  try {
    const filled: Filled[] = [];
    for (const { root } of versions) {
      const database = await createDatabase(server.url);
      const fillOf = { root, database, shape: 'domain', people: 0 } as const;
      filled.push(await fill({ ...fillOf, reports: POSTGRES_REPORTS }));
    }
    for (const scenario of scenarios) {
      const results = await race(versions, filled, scenario, server.micros);
      tell(
        scenario.name,
        results.map(({ micros }) => micros),
      );
      tell(
        '… of the database server',
        results.map(({ elsewhere }) => elsewhere),
      );
    }
  } finally {
    await server.stop();
  }
}

async function race(
  versions: readonly Version[],
  filled: readonly Filled[],
  scenario: Scenario,
  readElsewhere = () => 0,
) {
  const contenders: Contender[] = [];
  const loads = new Map<Contender, Load>();
  for (const [i, { name, root }] of versions.entries()) {
    const database = filled[i] as Filled;
    const contender = await startPlumbline(database, scenario.pageCacheMb, { root });
    contenders.push({ ...contender, name });
    loads.set(contenders[i] as Contender, await toOwnLoad(contender, database, scenario));
  }
  const loadOf = (contender: Contender) => loads.get(contender) as Load;
  const results = await compare(
    contenders,
    await known(contenders, scenario, loadOf),
    readElsewhere,
  );
  for (const { server } of contenders) server.stop();
  return results;
}

/** Each version has ids and cursors of its own. */
async function toOwnLoad({ server }: Contender, database: Filled, scenario: Scenario) {
  const load = toLoad(database, scenario);
  if (scenario !== CURSOR) return load;
  const first = `${load.paths.path}?received_after=start`;
  const answer = await fetch(server.url + first, { headers: load.headers });
  const cursor = answer.headers.get('plumbline-cursor');
  const path = `${load.paths.path}?received_after=${cursor}`;
  return { ...load, paths: { ...load.paths, path } };
}
