import { expect, test } from 'vitest';
import { receiveInputs } from '../../scripts/receive.ts';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import { isReportInView } from '../../src/domain/reports/authentication.ts';
import { latestDays } from '../../src/store/days/views.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { toReader } from '../../src/store/engine/reader.ts';
import { deleteOldest } from '../../src/store/reports/aging/old-reports.ts';
import { preferConflict, removeReport } from '../../src/store/reports/corrections.ts';
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

/** How many reports each view counts, after its day was compared with the reports that it is to count. */
async function readViews(db: Db, domainId: string): Promise<Record<string, number>> {
  const views: Record<string, number> = {};
  const all = await db.selectFrom('report').selectAll().execute();
  for (const view of ['all', 'established'] as const) {
    const counted = all.filter(({ doubt }) => isReportInView(view, doubt));
    const query = { domainId, view, from: '1970-01-01', to: '2026-12-31', limit: 10 };
    const days = await db.write((tx) => toReader(tx).readAll(latestDays(query)));
    const sumOf = (column: 'total_messages' | 'aligned_messages') =>
      counted.reduce((sum, report) => sum + Number(report[column]), 0);
    const counts = { messages: sumOf('total_messages'), aligned: sumOf('aligned_messages') };
    expect(days, view).toEqual(counted.length === 0 ? [] : [{ day: '2026-03-10', ...counts }]);
    views[view] = counted.length;
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
  expect(await readViews(db, domainId)).toEqual({ all: 6, established: 2 });

  // The second is brought by a new reporter, and then by an established one.
  await receiveOne(db, reports[1] as AggregateReport, NEW as string);
  expect(await readViews(db, domainId)).toEqual({ all: 6, established: 2 });
  await receiveOne(db, reports[1] as AggregateReport, ESTABLISHED as string);
  expect(await readViews(db, domainId)).toEqual({ all: 6, established: 3 });

  // Another content of the first, which nobody authenticated, takes its place by hand.
  await receiveOne(db, aReportWith('r1', 70), NOBODY as string);
  const conflict = await db.selectFrom('conflict').select('seq').executeTakeFirstOrThrow();
  await preferConflict(db, conflict.seq);
  expect(await readViews(db, domainId)).toEqual({ all: 6, established: 2 });

  for (const [reportId, all, established] of [
    ['r6', 5, 2],
    ['r4', 4, 1],
  ] as const) {
    const report = db.selectFrom('report').select('id').where('report_id', '=', reportId);
    await removeReport(db, (await report.executeTakeFirstOrThrow()).id, NOW);
    expect(await readViews(db, domainId)).toEqual({ all, established });
  }

  await db.write((tx) => deleteOldest(tx, domainId));
  expect(await readViews(db, domainId)).toEqual({ all: 0, established: 0 });
  expect(await db.selectFrom('domain_day').select('day').execute()).toEqual([]);
});

test('a disputed report is in no view, and leaves none changed', async () => {
  const { db } = await aStore();
  const { id: domainId } = await aDomain(db, await aBareAccount(db), { name: NAME });
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
  expect(await readViews(db, domainId)).toEqual({ established: 1, all: 1 });
  const report = db.selectFrom('report').select('id').where('report_id', '=', 'r2');
  await removeReport(db, (await report.executeTakeFirstOrThrow()).id, NOW);
  expect(await readViews(db, domainId)).toEqual({ established: 1, all: 1 });
});
