import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { backUp } from '../../src/store/backup/backup.ts';
import { restore } from '../../src/store/backup/restore.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { aCommand } from '../support/command.ts';
import { caseCount } from '../support/counts.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { moduleOf } from '../support/processes.ts';
import { listMiscounts } from '../support/recount.ts';

/** Stores mails of one report each, as fast as it can, until it is killed. */
const STORE = `
  import { openStore } from 'src/store/engine/open.ts';
  import { aReport, receive } from '${new URL('../support/builders.ts', import.meta.url).href}';
  const { db } = await openStore(process.argv[1]);
  for (let i = 0; ; i += 10)
    await receive(db, Array.from({ length: 10 }, (_, k) =>
      aReport({ domain: 'd' + (k % 3) + '.example.com', reportId: 'r' + (i + k) })));
`;

const ROUNDS = caseCount({ few: 10, full: 20 });

test(`${ROUNDS} backups at random moments of a full-speed ingest restore to databases whose counts are right`, async () => {
  const { folder, env, json } = await aCommand();
  await json('account', 'create', 'Example');
  for (const digit of [0, 1, 2]) await json('domain', 'add', 'Example', `d${digit}.example.com`);
  const child = spawn(process.execPath, moduleOf(STORE).concat(env.PLUMBLINE_DATABASE), {
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  const from = env.PLUMBLINE_DATABASE;
  const store = await openStore(from);
  onTestFinished(() => store.close());
  const count = async (db = store.db) =>
    (
      await db
        .selectFrom('report')
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .execute()
    )[0]?.n ?? 0;
  const counts: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = counts.at(-1) ?? 0;
    await vi.waitFor(async () => expect(await count()).toBeGreaterThan(before), PATIENCE_MS);
    await wait(Math.random() * 100);
    const to = join(folder, `backup-${round}.db`);
    const restored = join(folder, `restored-${round}.db`);
    await backUp({ from, to });
    await restore({ from: to, to: restored, now: () => new Date() });
    const copy = await openStore(restored, { mustExist: true });
    try {
      expect(await listMiscounts(copy.db)).toEqual({});
      counts.push(await count(copy.db));
    } finally {
      await copy.close();
    }
    for (const path of [to, restored]) rmSync(path);
  }
  // The ingest went on all the time: each backup has more than the one before.
  expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
  expect(child.exitCode).toBeNull();
});
