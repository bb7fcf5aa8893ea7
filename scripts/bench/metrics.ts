/** What a request costs more where metrics are counted: `npm run bench -- metrics`. */
import { withDatabases } from './databases.ts';
import { known } from './known.ts';
import { print } from './print.ts';
import { compare, startPlumbline } from './race.ts';
import { SCENARIOS, toLoad } from './scenarios.ts';

const REPORTS = 20_000;
const WANTED = ['304', 'repeated page', 'random page'];

export async function benchMetrics(): Promise<void> {
  await withDatabases(async (open) => {
    const database = await open(REPORTS);
    print('\nµs of CPU a request (goal: at most 1.05 ×)');
    for (const scenario of SCENARIOS.filter(({ name }) => WANTED.includes(name))) {
      const { pageCacheMb, name } = scenario;
      const contenders = [
        await startPlumbline(database, pageCacheMb),
        await startPlumbline(database, pageCacheMb, { hasMetrics: true }),
      ];
      const load = toLoad(database, scenario);
      const results = await compare(contenders, await known(contenders, scenario, () => load));
      const [without = Number.NaN, counted = Number.NaN] = results.map(({ micros }) => micros);
      print(
        `  ${name.padEnd(14)} ${without.toFixed(1)} µs without metrics, ${counted.toFixed(1)} with: ${(counted / without).toFixed(3)} ×`,
      );
      for (const { server } of contenders) server.stop();
    }
  });
}
