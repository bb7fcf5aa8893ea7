/** The CPU time of a request on PostgreSQL, of the product and of its database, against the bare query. */
import { startMeasured } from '../cpu.ts';
import type { BenchDatabase } from '../databases.ts';
import { known } from '../known.ts';
import { print } from '../print.ts';
import { type Contender, compare, type Result, startPlumbline } from '../race.ts';
import { POSTGRES_SCENARIOS, type Scenario, toLoad } from '../scenarios.ts';
import { openPostgresDatabase } from './fill.ts';
import { type BenchServer, startBenchServer } from './server.ts';

const REPORTS = 1_000_000;
/** How many times the first page the deepest one may cost. */
const MAX_DEPTH = 3;

export async function benchApiOnPostgres(wanted: string): Promise<void> {
  const scenarios = POSTGRES_SCENARIOS.filter(({ name }) => name.includes(wanted));
  if (scenarios.length === 0) return;
  const server = await startBenchServer();
  try {
    const database = await openPostgresDatabase(server.url, REPORTS);
    print(
      `\nOn PostgreSQL, ${REPORTS} reports: µs of CPU a request, of the server and of PostgreSQL`,
    );
    const ours = new Map<Scenario['page'], number>();
    for (const scenario of scenarios)
      ours.set(scenario.page, await race(database, scenario, server));
    tellDepth(ours.get('first'), ours.get('last'));
  } finally {
    await server.stop();
  }
}

async function race(
  database: BenchDatabase,
  scenario: Scenario,
  { micros }: BenchServer,
): Promise<number> {
  const load = toLoad(database, scenario);
  const contenders = [
    await startBareQuery(database),
    await startPlumbline(database, scenario.pageCacheMb),
  ];
  const results = await compare(contenders, await known(contenders, scenario, () => load), micros);
  const [bare, ours] = results as [Result, Result];
  print(`\n${scenario.name}`);
  for (const { name, micros, elsewhere, megabytes } of results) {
    const both = (micros + elsewhere) / (bare.micros + bare.elsewhere);
    print(
      `  ${name.padEnd(28)} ${micros.toFixed(0).padStart(6)} µs ${(micros / bare.micros).toFixed(2)} ×, ` +
        `PostgreSQL ${elsewhere.toFixed(0)} µs, both ${both.toFixed(2)} ×, ${megabytes.toFixed(0)} MB`,
    );
  }
  for (const { server } of contenders) server.stop();
  return ours.micros + ours.elsewhere;
}

async function startBareQuery({ path, domainId, reports }: BenchDatabase): Promise<Contender> {
  const env = { BENCH_DATABASE: path, BENCH_DOMAIN: domainId, BENCH_TOTAL: `${reports}` };
  return { name: 'bare query', server: await startMeasured('./postgres/bare-query.ts', env) };
}

function tellDepth(first: number | undefined, last: number | undefined): void {
  if (first === undefined || last === undefined) return;
  print(
    `\nthe deepest page costs ${(last / first).toFixed(2)} × the first (goal: at most ${MAX_DEPTH} ×)`,
  );
}
