import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { anAccount, aReport, receive } from '../support/builders.ts';
import { aCommand } from '../support/command.ts';
import { caseCount } from '../support/counts.ts';
import { aFullAccount, readAll } from '../support/full-account.ts';
import { listMiscounts } from '../support/recount.ts';

const KILLS = caseCount({ few: 5, full: 10 });
/** The published run was with 100,000. */
const REPORTS = Number(process.env['DELETED_REPORTS'] ?? 500 + 200 * KILLS);

/** 0 when the domain is gone. */
async function countReports(db: Db, name: string): Promise<number> {
  const domains = db.selectFrom('domain').select('reports_total').where('name', '=', name);
  return Number((await domains.executeTakeFirst())?.reports_total ?? 0);
}

test(`an account is deleted by commands of which ${KILLS} are killed while reports of another come in; nothing is left of it in any table, and nothing of others is gone`, async () => {
  const { env, start, json } = await aCommand();
  const { db, close } = await openStore(env.PLUMBLINE_DATABASE);
  onTestFinished(close);
  await aFullAccount(db);
  const before = await readAll(db);
  const gone = await aFullAccount(db);
  const { name } = await db
    .selectFrom('domain')
    .select('name')
    .where('account_id', '=', gone)
    .where('reports_total', '>', 0)
    .executeTakeFirstOrThrow();
  const { id: busy } = await anAccount(db);
  await json('domain', 'add', busy, 'busy.example');
  const report = (domain: string, day: number) =>
    aReport({ domain, begin: `2026-03-${10 + (day % 20)}T00:00:00Z` });
  for (let stored = 0; stored < REPORTS; stored += 500)
    await receive(
      db,
      Array.from({ length: 500 }, (_, i) => report(name, i)),
    );
  let ofBusy = 0;
  const storeMore = async () => {
    await receive(db, [report('busy.example', ofBusy)]);
    ofBusy += 1;
  };
  let killed = 0;
  for (; killed < KILLS; killed += 1) {
    // The last one dies when all reports are gone.
    const left = REPORTS * Math.max(0, 1 - (killed + Math.random()) / (KILLS - 1));
    const child = start('account', 'delete', gone, '--yes');
    const ended = once(child, 'exit');
    while ((await countReports(db, name)) > left && child.exitCode === null) await storeMore();
    await wait(Math.random() * 20);
    child.kill('SIGKILL');
    await ended;
    if (child.exitCode !== null) break;
  }
  expect(killed).toBeGreaterThanOrEqual(KILLS - 1);
  const accounts = await db.selectFrom('account').select('id').where('id', '=', gone).execute();
  if (accounts.length > 0) await json('account', 'delete', gone, '--yes');

  expect(await countReports(db, 'busy.example')).toBe(ofBusy);
  expect(await listMiscounts(db)).toEqual({});
  await json('account', 'delete', busy, '--yes');
  expect(await readAll(db)).toEqual(before);
}, 3_600_000);
