import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Db } from '../../src/store/engine/database.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { aReport, receive } from '../support/builders.ts';
import { aCommand } from '../support/command.ts';
import { caseCount } from '../support/counts.ts';
import { listMiscounts } from '../support/recount.ts';

const KILLS = caseCount({ few: 5, full: 20 });
const REPORTS = 500 + 200 * KILLS;
const TABLES = ['report', 'conflict', 'domain_day', 'domain_receipt'] as const;

const countReports = async (db: Db, domainId: string): Promise<number> => {
  const reports = db.selectFrom('report').where('domain_id', '=', domainId);
  const { n } = await reports
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  return n;
};

test(`an account is deleted by commands of which ${KILLS} are killed while reports of another come in; the other loses nothing`, async () => {
  const { env, start, json } = await aCommand();
  const domains: Record<string, string> = {};
  for (const name of ['gone', 'kept']) {
    await json('account', 'create', name);
    domains[name] = (await json('domain', 'add', name, `${name}.example`)).id;
  }
  const { gone = '', kept = '' } = domains;
  const { db, close } = await openStore(env.PLUMBLINE_DATABASE);
  const report = (domain: string, day: number) =>
    aReport({ domain, begin: `2026-03-${10 + (day % 20)}T00:00:00Z` });
  for (let stored = 0; stored < REPORTS; stored += 500)
    await receive(
      db,
      Array.from({ length: 500 }, (_, i) => report('gone.example', i)),
    );
  let ofOther = 0;
  const storeMore = async () => {
    await receive(db, [report('kept.example', ofOther)]);
    ofOther += 1;
  };
  let killed = 0;
  for (let left = await countReports(db, gone); left > 0 && killed < KILLS; killed += 1) {
    const child = start('account', 'delete', 'gone', '--yes');
    const ended = once(child, 'exit');
    while ((await countReports(db, gone)) === left && child.exitCode === null) await storeMore();
    await wait(Math.random() * 20);
    child.kill('SIGKILL');
    await ended;
    left = await countReports(db, gone);
  }
  expect(killed).toBeGreaterThan(1);
  const accounts = await db.selectFrom('account').select('name').orderBy('name').execute();
  if (accounts.length === 2) await json('account', 'delete', 'gone', '--yes');

  for (const table of TABLES) {
    const rows = db.selectFrom(table).select('domain_id').distinct();
    const others = (await rows.execute()).filter(({ domain_id }) => domain_id !== kept);
    expect(others, table).toEqual([]);
  }
  expect(await db.selectFrom('account').select('name').execute()).toEqual([{ name: 'kept' }]);
  expect(await db.selectFrom('domain').select('id').execute()).toEqual([{ id: kept }]);
  expect(await countReports(db, kept)).toBe(ofOther);
  const { n } = await db
    .selectFrom('document')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  expect(n).toBe(ofOther);
  expect(await listMiscounts(db)).toEqual({});
  await close();
}, 300_000);
