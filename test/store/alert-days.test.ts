import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { receiveInputs } from '../../scripts/receive.ts';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { packSources, unpackSources } from '../../src/domain/sources/packed-sources.ts';
import { isCounted } from '../../src/store/days/day-counts.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { deleteOldest } from '../../src/store/reports/aging/old-reports.ts';
import { preferConflict, removeReport } from '../../src/store/reports/corrections.ts';
import { recountDay } from '../../src/store/sources/recount.ts';
import { aBareAccount, aDomain, aRecord, aReportOf, NOW } from '../support/builders.ts';
import { aStore } from '../support/store.ts';

const NAME = 'a.example';
const [NOBODY, NEW, ESTABLISHED] = ['', 'new-reporter.example', 'google.com'];

/** Each address is in several reports, so that a wrong report leaves another sum. */
const aReportWith = (reportId: string, count: number) =>
  aReportOf(
    ['192.0.2.1', `192.0.2.${2 + (count % 3)}`].map((sourceIp) => aRecord({ sourceIp, count })),
    { domain: NAME, reportId, payload: `${reportId} ${count}`, begin: '2026-03-10T00:00:00Z' },
  );

/** By a file, or by a mail whose sender is given. */
async function receiveOne(db: Db, content: AggregateReport, authenticated: string | null) {
  const bytes = Buffer.from(`${authenticated} ${content.payloadSha256}`);
  const documents = [{ member: [], content, authenticated }];
  await receiveInputs(db, [{ name: 'mail', bytes, documents }], NOW);
}

/** What each view of the day has, after it was compared with the stored reports counted again. */
async function readViews(db: Db): Promise<Record<string, number>> {
  const views: Record<string, number> = {};
  for (const row of await db.selectFrom('alert_day').selectAll().orderBy('view').execute()) {
    const at = { domainId: row.domain_id, day: row.day };
    const right = await db
      .selectFrom('report')
      .select(({ fn }) => fn.countAll().as('reports'))
      .select(sql<number>`coalesce(sum(total_messages), 0)`.as('messages'))
      .select(sql<number>`coalesce(sum(aligned_messages), 0)`.as('aligned'))
      .where(isCounted(row.view))
      .executeTakeFirstOrThrow();
    const { reports, messages, aligned } = right;
    expect([row.reports, row.messages, row.aligned].map(Number), row.view).toEqual(
      [reports, messages, aligned].map(Number),
    );
    const sources = packSources(await recountDay(db, at, isCounted(row.view)));
    expect(unpackSources(row.sources), row.view).toEqual(unpackSources(sources));
    views[row.view] = Number(row.reports);
  }
  return views;
}

test('views count what is left of a day after reports came, were authenticated, exchanged, removed and pruned', async () => {
  const { db } = await aStore();
  const { id: domainId } = await aDomain(db, await aBareAccount(db), { name: NAME });
  const reports = [1, 2, 3, 4, 5, 6].map((n) => aReportWith(`r${n}`, n)) as [
    AggregateReport,
    ...AggregateReport[],
  ];
  for (const [i, sender] of [null, NOBODY, NEW, ESTABLISHED, NOBODY, NEW].entries())
    await receiveOne(db, reports[i] as AggregateReport, sender as string | null);
  expect(await readViews(db)).toEqual({ established: 2 });

  // The second is brought by a new reporter, and then by an established one.
  await receiveOne(db, reports[1] as AggregateReport, NEW as string);
  expect(await readViews(db)).toEqual({ established: 2 });
  await receiveOne(db, reports[1] as AggregateReport, ESTABLISHED as string);
  expect(await readViews(db)).toEqual({ established: 3 });

  // Another content of the first, which nobody authenticated, takes its place by hand.
  await receiveOne(db, aReportWith('r1', 70), NOBODY as string);
  const conflict = await db.selectFrom('conflict').select('seq').executeTakeFirstOrThrow();
  await preferConflict(db, conflict.seq);
  expect(await readViews(db)).toEqual({ established: 2 });

  for (const [reportId, left] of [
    ['r6', 2],
    ['r4', 1],
  ] as const) {
    const report = db.selectFrom('report').select('id').where('report_id', '=', reportId);
    await removeReport(db, (await report.executeTakeFirstOrThrow()).id, NOW);
    expect(await readViews(db)).toEqual({ established: left });
  }

  await db.write((tx) => deleteOldest(tx, domainId));
  expect(await readViews(db)).toEqual({});
  expect(await db.selectFrom('domain_day').select('day').execute()).toEqual([]);
});

test('a disputed report is in no view, and leaves none changed', async () => {
  const { db } = await aStore();
  await aDomain(db, await aBareAccount(db), { name: NAME });
  await receiveOne(db, aReportWith('r1', 1), ESTABLISHED as string);
  const disputed = { member: [], content: aReportWith('r2', 2), authenticated: NOBODY };
  const inputs = [
    {
      name: 'mail',
      bytes: Buffer.from('2'),
      documents: [{ ...disputed, claimed: [ESTABLISHED as string] }],
    },
  ];
  await receiveInputs(db, inputs, NOW);
  expect(await readViews(db)).toEqual({ established: 1, undisputed: 1 });
  const report = db.selectFrom('report').select('id').where('report_id', '=', 'r2');
  await removeReport(db, (await report.executeTakeFirstOrThrow()).id, NOW);
  expect(await readViews(db)).toEqual({ established: 1, undisputed: 1 });
});
