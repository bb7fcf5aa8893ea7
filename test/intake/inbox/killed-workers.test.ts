import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Db } from '../../../src/store/engine/database.ts';
import { openStore } from '../../../src/store/engine/open.ts';
import { aBareAccount, aDomain } from '../../support/builders.ts';
import { caseCount } from '../../support/counts.ts';
import { aReportMail, deliverMail, listMailRows, makeDue } from '../../support/inbox.ts';
import { mail, text } from '../../support/mail.ts';
import { listMiscounts } from '../../support/recount.ts';
import { aDatabasePath } from '../../support/store.ts';

const WORKER = fileURLToPath(new URL('./worker-process.ts', import.meta.url));
const ROUNDS = caseCount({ few: 12, full: 40 });
const MAILS_A_ROUND = 6;
const WORKERS = 2;

/** Two workers, one of which is killed in each round and replaced. */
function startWorkers(path: string) {
  const start = () => {
    const child = spawn(process.execPath, ['--no-warnings', WORKER, path], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return child;
  };
  const workers: ChildProcess[] = Array.from({ length: WORKERS }, start);
  const killOne = async (index: number) => {
    await end(workers[index] as ChildProcess);
    workers[index] = start();
  };
  onTestFinished(async () => void (await Promise.all(workers.map(end))));
  return { killOne };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const isAllDone = async (db: Db) => (await listMailRows(db)).every(({ state }) => state === 'done');

test(`every mail is recorded once when workers are killed, ${ROUNDS} times`, async () => {
  const path = aDatabasePath();
  const store = await openStore(path);
  onTestFinished(() => store.close());
  const { db } = store;
  await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  const { killOne } = startWorkers(path);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let i = 0; i < MAILS_A_ROUND; i += 1) {
      const isOther = i === MAILS_A_ROUND - 1;
      const bytes = isOther ? mail(text(`Hello ${round}`)) : aReportMail(`${round}-${i}`);
      await deliverMail(db, { bytes, key: `${round}-${i}` });
    }
    await sleep(randomInt(caseCount({ few: 400, full: 600 })));
    await killOne(round % WORKERS);
    // A claim of the killed worker ends, and so does the pause: the test does not wait for the clock.
    await makeDue(db);
  }
  while (!(await isAllDone(db))) {
    await makeDue(db);
    await sleep(100);
  }
  const rows = await listMailRows(db);
  expect(rows).toHaveLength(ROUNDS * MAILS_A_ROUND);
  const ignored = rows.filter(({ result }) => result === 'ignored');
  expect(ignored).toHaveLength(ROUNDS);
  expect(rows.filter(({ result }) => result === 'processed')).toHaveLength(
    ROUNDS * (MAILS_A_ROUND - 1),
  );
  const reports = await db.selectFrom('report').select('report_id').execute();
  const ids = new Set(reports.map(({ report_id }) => report_id));
  expect([reports.length, ids.size]).toEqual([
    ROUNDS * (MAILS_A_ROUND - 1),
    ROUNDS * (MAILS_A_ROUND - 1),
  ]);
  expect(await listMiscounts(db)).toEqual({});
  // Only mails without any report have their bytes still here.
  expect(await db.selectFrom('inbox_part').select('part').execute()).toHaveLength(ROUNDS);
});
