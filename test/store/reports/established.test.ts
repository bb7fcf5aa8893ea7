import { expect, test } from 'vitest';
import { addDays, type Day } from '../../../src/domain/instant.ts';
import type { AggregateReport } from '../../../src/domain/reports/aggregate-report.ts';
import { planState } from '../../../src/store/days/believed.ts';
import { preferAuthenticated } from '../../../src/store/reports/authenticated.ts';
import type { DocumentSender } from '../../../src/store/reports/senders.ts';
import {
  aBareAccount,
  aDomain,
  aRecord,
  aReport,
  aReportOf,
  receive,
} from '../../support/builders.ts';
import { listMiscounts } from '../../support/recount.ts';
import { aStore } from '../../support/store.ts';

const [PROVIDER, OTHER, BIG] = ['provider.example', 'other.example', 'google.com'];
const by = (authenticated: string): DocumentSender => ({ authenticated, claimed: [] });
/** The first day of the two weeks of a new reporter is day 0. */
const day = (n: number): Day => addDays('2026-03-01', n);
const at = (n: number) => `${day(n)}T06:00:00Z`;

async function aWorld() {
  const { db, reader } = await aStore();
  const accountId = await aBareAccount(db);
  const { id: domainId, name: domain } = await aDomain(db, accountId);
  const send = async (n: number, sender: DocumentSender, count = 1) => {
    const begin = `${day(n)}T00:00:00Z`;
    const reports = Array.from({ length: count }, () => aReport({ domain, begin }));
    await receive(db, reports, at(n), sender);
    return reports[0] as (typeof reports)[0];
  };
  const state = (n: number) => reader.readPlan(() => planState({ domainId, today: day(n) }));
  /** How many reports are counted by each belief. */
  const counts = async () => {
    expect(await listMiscounts(db)).toEqual({});
    const days = db.selectFrom('domain_day').select(['belief']).groupBy('belief');
    const rows = await days.select(({ fn }) => fn.sum('reports').as('reports')).execute();
    return Object.fromEntries(rows.map(({ belief, reports }) => [belief, Number(reports)]));
  };
  return { db, accountId, domain, send, state, counts };
}

test('a domain keeps its figures on the day on which its only reporter becomes established', async () => {
  const { send, state, counts } = await aWorld();
  for (let n = 0; n < 14; n += 1) await send(n, by(PROVIDER));
  await send(13, by(OTHER));
  expect((await state(13)).reporters).toBe('all');
  expect(await counts()).toEqual({ other: 15 });
  await send(14, by(PROVIDER));
  expect((await state(14)).reporters).toBe('established');
  expect(await counts()).toEqual({ established: 15, other: 1 });
});

test('the same when that day’s mail has a report that came before', async () => {
  const { db, send, counts } = await aWorld();
  const [report] = [await send(0, by(PROVIDER)), await send(1, by(PROVIDER))];
  const { payloadSha256 } = report;
  const rows = db.selectFrom('report').select('id').orderBy('seq');
  const { id } = await rows.executeTakeFirstOrThrow();
  await preferAuthenticated(db, { id, payloadSha256, authenticated: PROVIDER }, at(14));
  expect(await counts()).toEqual({ established: 2 });
});

test('the same when that day’s mail has another content of one: the first stands', async () => {
  const { db, domain, send, counts } = await aWorld();
  const begin = `${day(0)}T00:00:00Z`;
  const [first, other] = [1, 2].map((count) =>
    aReportOf([aRecord({ count })], { domain, begin, reportId: 'r' }),
  ) as [AggregateReport, AggregateReport];
  await receive(db, [first], at(0), by(PROVIDER));
  await send(1, by(PROVIDER));
  await receive(db, [other], at(2), { authenticated: '' });
  const { id } = await db
    .selectFrom('report')
    .select('id')
    .orderBy('seq')
    .executeTakeFirstOrThrow();
  const { payloadSha256 } = other;
  await preferAuthenticated(db, { id, payloadSha256, authenticated: PROVIDER }, at(14));
  expect(await counts()).toEqual({ established: 2 });
  const report = db.selectFrom('report').select('total_messages').where('id', '=', id);
  expect(await report.executeTakeFirst()).toEqual({ total_messages: 1 });
});

test('another domain, and a reporter that sends no more, keep what they had', async () => {
  const { db, accountId, send, counts } = await aWorld();
  await send(0, by(PROVIDER), 3);
  await send(1, by(BIG));
  const { name: domain } = await aDomain(db, accountId);
  await receive(db, [aReport({ domain })], at(14), by(PROVIDER));
  expect(await counts()).toEqual({ established: 2, other: 3 });
});

test('a reporter that one account has seen for two weeks is new to another one, whose owners are told', async () => {
  const { db, send, counts } = await aWorld();
  await send(0, by(PROVIDER));
  await send(14, by(PROVIDER));
  expect(await counts()).toEqual({ established: 2 });
  const accountId = await aBareAccount(db);
  const { name: domain } = await aDomain(db, accountId);
  await receive(db, [aReport({ domain })], at(14), by(PROVIDER));
  expect(await counts()).toEqual({ established: 2, other: 1 });
  const told = db.selectFrom('audit').select(['account_id', 'subject', 'detail']);
  const mine = told.where('action', '=', 'reporter_new').where('account_id', '=', accountId);
  expect(await mine.execute()).toEqual([
    { account_id: accountId, subject: PROVIDER, detail: domain },
  ]);
  await receive(db, [aReport({ domain })], at(28), by(PROVIDER));
  expect(await counts()).toEqual({ established: 4 });
});

test('a report in the name of a reporter that only another account knows is not disputed', async () => {
  const { db, send } = await aWorld();
  await send(0, by(PROVIDER));
  const { name: domain } = await aDomain(db, await aBareAccount(db));
  await receive(db, [aReport({ domain })], at(14), { authenticated: '', claimed: [PROVIDER] });
  const last = db.selectFrom('report').select('doubt').orderBy('seq', 'desc');
  expect(await last.executeTakeFirst()).toEqual({ doubt: 'unproven' });
});

test('of a flood of them one transaction takes five hundred, the newest first', async () => {
  const { db, send, counts } = await aWorld();
  await send(0, by(PROVIDER), 300);
  await send(1, by(PROVIDER), 300);
  await send(14, by(PROVIDER));
  expect(await counts()).toEqual({ established: 501, other: 100 });
  const old = db.selectFrom('domain_day').select('day').where('belief', '=', 'other');
  expect(await old.execute()).toEqual([{ day: day(0) }]);
  await send(15, by(PROVIDER));
  expect(await counts()).toEqual({ established: 602 });
});
