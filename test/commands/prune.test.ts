import { expect, test } from 'vitest';
import { toInstant } from '../../src/domain/instant.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { aReport, receive } from '../support/builders.ts';
import { aProgram } from '../support/program.ts';

const DAY_S = 86_400;
const NOW_S = Math.floor(Date.now() / 1000 / DAY_S) * DAY_S;

const toXml = (daysAgo: number) => `<feedback><report_metadata><org_name>Provider</org_name>
  <report_id>r${daysAgo}</report_id><date_range><begin>${NOW_S - daysAgo * DAY_S}</begin>
  <end>${NOW_S - (daysAgo - 1) * DAY_S - 1}</end></date_range></report_metadata>
  <policy_published><domain>example.com</domain><p>none</p></policy_published>
  <record><row><source_ip>192.0.2.1</source_ip><count>1</count><policy_evaluated>
  <disposition>none</disposition><dkim>pass</dkim><spf>pass</spf></policy_evaluated></row>
  <identifiers><header_from>example.com</header_from></identifiers></record></feedback>`;

const toDayText = (daysAgo: number) =>
  new Date((NOW_S - daysAgo * DAY_S) * 1000).toISOString().slice(0, 10);

test('plumbline prune deletes what is older than it is kept, and such a report does not come back', async () => {
  const { database, run, json } = aProgram({ PLUMBLINE_KEEP_REPORTS_DAYS: '60' });
  await json('account', 'create', 'Example');
  await json('domain', 'add', 'Example', 'example.com');
  const store = await openStore(database);
  const days = Array.from({ length: 80 }, (_, i) => 100 - i);
  const toReport = (ago: number) =>
    aReport({ domain: 'example.com', reportId: `r${ago}`, begin: `${toDayText(ago)}T00:00:00Z` });
  await receive(store.db, days.map(toReport), toInstant(new Date()));
  const wanted = {
    reports: 40,
    bytes: expect.any(Number),
    originals: 0,
    originalBytes: 0,
    auditEntries: 0,
  };
  expect(await json('prune', '--dry-run')).toEqual(wanted);
  expect(await json('prune')).toEqual({ ...wanted, fileBytes: expect.any(Number) });
  const nothing = { reports: 0, bytes: 0, auditEntries: 0, fileBytes: 0 };
  expect(await json('prune')).toMatchObject(nothing);
  const left = await store.db.selectFrom('report').select('id').execute();
  await store.close();
  expect(left).toHaveLength(80 - wanted.reports);

  expect((await run(['ingest', '-'], toXml(60))).stdout).toMatch(/stored +1/);
  expect((await run(['ingest', '-'], toXml(61))).stdout).toMatch(/rejected +1/);
  expect(await json('document', 'list')).toMatchObject([
    {
      reason: 'too_old',
      message: `Its window begins on ${toDayText(61)}. Reports of days before ${toDayText(60)} are not taken in.`,
    },
  ]);
});

test('plumbline prune deletes originals before their reports, and says how many', async () => {
  const { database, run, json } = aProgram({ PLUMBLINE_KEEP_ORIGINALS_DAYS: '30' });
  await json('account', 'create', 'Example');
  await json('domain', 'add', 'Example', 'example.com');
  const store = await openStore(database);
  for (const ago of [31, 30, 1])
    await receive(
      store.db,
      [
        aReport({
          domain: 'example.com',
          reportId: `r${ago}`,
          begin: `${toDayText(ago)}T00:00:00Z`,
        }),
      ],
      `${toDayText(1)}T12:00:00Z`,
    );
  await store.close();
  const wanted = {
    reports: 0,
    bytes: 0,
    originals: 1,
    originalBytes: expect.any(Number),
    auditEntries: 0,
  };
  expect(await json('prune', '--dry-run')).toEqual(wanted);
  expect((await run(['prune'])).stdout).toMatch(/^Originals that went before their reports: 1, /m);
  expect(await json('prune')).toMatchObject({ originals: 0, originalBytes: 0 });
});

test('without the variables everything is kept', async () => {
  const { run, json } = aProgram();
  await json('account', 'create', 'Example');
  expect((await run(['prune'])).stderr).toContain('Everything is kept for ever');
});
