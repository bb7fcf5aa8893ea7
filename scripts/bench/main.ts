/**
 * `npm run bench`: every figure is compared with a baseline that was measured in the same run, because times on a shared machine
 * vary and ratios do not. `npm run bench -- api PostgreSQL random` measures what has all these words in its title, and
 * `npm run bench -- versus <folder of another checkout> api random` compares that checkout with this one instead.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { benchCost } from './alerts/cost.ts';
import { benchReplay } from './alerts/replay.ts';
import { benchApi } from './api.ts';
import { type Checkout, OWN } from './checkout.ts';
import { benchCitus } from './citus.ts';
import { Databases } from './databases.ts';
import { benchCostly } from './doors/costly.ts';
import { benchDoors } from './doors/main.ts';
import { onPostgres, onSqlite } from './engines.ts';
import { benchIntake } from './intake.ts';
import { benchPages } from './pages.ts';
import { benchStorage } from './storage.ts';
import { benchTenMillion } from './ten-million.ts';

const BENCHES = [benchIntake, benchApi, benchPages, benchDoors, benchStorage];
const ENGINES = ['SQLite', 'PostgreSQL'] as const;

async function main(words: readonly string[]): Promise<void> {
  if (words[0] === 'alerts') {
    await benchReplay();
    return await benchCost();
  }
  if (words[0] === 'ten-million') return await benchTenMillion();
  if (words[0] === 'costly') return await benchCostly();
  if (words[0] === 'citus') return await benchCitus();
  if (words[0] !== 'versus') return await bench([OWN], words);
  const root = resolve(words[1] ?? '.');
  if (root === resolve(OWN.root)) throw new Error('Name the folder of another checkout.');
  await bench(
    [
      { name: 'before', root },
      { ...OWN, name: 'after' },
    ],
    words.slice(2),
  );
}

async function bench(checkouts: readonly Checkout[], words: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'));
  // Databases in a folder of the caller's are there for the next run.
  const kept = process.env['BENCH_FOLDER'] ?? folder;
  const titles: string[] = [];
  const isWanted = (title: string) =>
    words.every((word) => title.includes(word)) && titles.push(title) > 0;
  const named = ENGINES.filter((name) => words.includes(name));
  try {
    for (const name of named.length > 0 ? named : ENGINES) {
      const engine = name === 'SQLite' ? onSqlite(folder) : await onPostgres();
      const databases = new Databases(name === 'SQLite' ? onSqlite(kept) : engine, kept);
      const given = { checkouts, engine, databases, folder, isWanted };
      for (const run of BENCHES) await run(given);
      await engine.stop();
    }
    if (titles.length === 0) throw new Error(`No title has all of ${words.join(', ')}.`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

await main(process.argv.slice(2));
