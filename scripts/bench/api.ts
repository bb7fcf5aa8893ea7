/**
 * The CPU time of a request in the server's process, against a bare node:http server that sends the same bytes,
 * and beside servers written by hand for the comparison (peers/): a page that is asked for again, pages read
 * for each request wherever they are, compressed ones, and a 304. `npm run bench -- api <text>` runs the
 * scenarios with the text in their name.
 */
import { type BenchDatabase, withDatabases } from './databases.ts';
import { known } from './known.ts';
import { CLIENT } from './load.ts';
import { findPeers, startPlain } from './peers.ts';
import { benchApiOnPostgres } from './postgres/api.ts';
import { print } from './print.ts';
import { compare, startBare, startPlumbline } from './race.ts';
import { SCENARIOS, type Scenario, toFollowed, toLoad } from './scenarios.ts';

/** The size of the scenarios that do not say another one. */
const REPORTS = 200_000;
const PLAIN_REPORTS = 100_000;

export async function benchApi(wanted = ''): Promise<void> {
  await benchApiOnSqlite(wanted);
  await benchApiOnPostgres(wanted);
}

async function benchApiOnSqlite(wanted: string): Promise<void> {
  const scenarios = SCENARIOS.filter(({ name }) => name.includes(wanted));
  if (scenarios.length === 0 && !'plain'.includes(wanted)) return;
  await withDatabases(async (open) => {
    print(`\nµs of CPU a request, and how many times bare node:http; the load is ${CLIENT}`);
    for (const scenario of scenarios) await race(await open(scenario.reports ?? REPORTS), scenario);
    if ('plain'.includes(wanted)) await raceAgainstPlain(await open(PLAIN_REPORTS));
  });
}

async function race(database: BenchDatabase, scenario: Scenario): Promise<void> {
  const plumbline = await startPlumbline(database, scenario.pageCacheMb);
  const { url } = plumbline.server;
  const load = await toFollowed(url, toLoad(database, scenario), database, scenario);
  const bare = await startBare(plumbline, scenario, load);
  const peers = scenario.isWithPeers ? await findPeers(database, plumbline) : [];
  const contenders = [bare, plumbline, ...peers];
  const results = await compare(contenders, await known(contenders, scenario, () => load));
  const base = results[0]?.micros ?? 1;
  print(`\n${scenario.name}${scenario.goal ? ` (goal: at most ${scenario.goal} ×)` : ''}`);
  for (const { name, micros, megabytes } of results) {
    print(
      `  ${name.padEnd(28)} ${micros.toFixed(1).padStart(8)} µs ${(micros / base).toFixed(2).padStart(7)} × ${megabytes.toFixed(0).padStart(5)} MB`,
    );
  }
  for (const { server } of contenders) server.stop();
}

/** The plainest server of the same packages, as their READMEs show. */
async function raceAgainstPlain(database: BenchDatabase): Promise<void> {
  const random = SCENARIOS.find(({ name }) => name === 'random page') as Scenario;
  const load = toLoad(database, random);
  const plumbline = await startPlumbline(database, random.pageCacheMb);
  const plain = await startPlain(database);
  const [ours, theirs] = await compare([plumbline, plain], () => load);
  const times = (theirs?.micros ?? 0) / (ours?.micros ?? 1);
  print(`\na random page of ${database.reports} reports, beside the plainest server`);
  print(`  plumbline ${ours?.micros.toFixed(1)} µs, plain ${theirs?.micros.toFixed(1)} µs: `);
  print(`  ${times.toFixed(1)} × less (goal: at least 10 ×)`);
  for (const { server } of [plumbline, plain]) server.stop();
}
