import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import type { PendingStep } from '../../src/store/engine/pending-steps.ts';
import { aReport, receive } from '../support/builders.ts';
import { laterSteps } from '../support/later-steps.ts';
import { moduleOf } from '../support/processes.ts';
import { aDatabasePath } from '../support/store.ts';

const REPORTS = 4_000;
const LATER = new URL('../support/later-steps.ts', import.meta.url).href;

const runAll = async (pending: readonly PendingStep[]) => {
  for (const { run } of pending) await run();
};

/** `plumbline migrate` of a later version, whose second step takes long. Prints what is filled in, and stops there. */
const MIGRATE = `import { openStore } from 'src/store/engine/open.ts';
  import { laterSteps } from '${LATER}';
  const beforeBatch = async (filled) => {
    process.stdout.write(filled + '\\n');
    if (filled === 1200) await new Promise((resolve) => setTimeout(resolve, 60_000));
  };
  const migrate = async (pending) => {
    for (const { run } of pending) await run();
  };
  await openStore(process.argv[1], { steps: laterSteps({ perSecond: 1, beforeBatch }), migrate });`;

test('a long step on SQLite whose process is killed goes on where it was, and nobody is let in meanwhile', async () => {
  const path = aDatabasePath();
  const store = await openStore(path);
  await receive(
    store.db,
    Array.from({ length: REPORTS }, (_, i) => aReport({ reportId: `${i}` })),
  );
  await store.close();
  const migrating = spawn(process.execPath, [...moduleOf(MIGRATE), path]);
  onTestFinished(() => void migrating.kill('SIGKILL'));
  let printed = '';
  migrating.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  await expect.poll(() => printed).toContain('1200\n');
  // It waits as long as another process may take to open the database.
  await expect(openStore(path)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('in use by another process'),
  });
  migrating.kill('SIGKILL');
  await once(migrating, 'exit');

  const steps = laterSteps({ perSecond: 1 });
  const nothing = await openStore(path, { steps, migrate: async () => {} });
  const count = sql<{ n: number }>`select count(later) as n from report`;
  const filled = async (db: typeof nothing.db) => (await count.execute(db)).rows[0]?.n ?? 0;
  const kept = await filled(nothing.db);
  expect(kept).toBe(1_200);
  await nothing.close();
  const migrated = await openStore(path, { steps, migrate: runAll });
  expect(await filled(migrated.db)).toBe(REPORTS);
  await migrated.close();
});
