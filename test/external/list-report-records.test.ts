import { beforeAll, describe, expect, test } from 'vitest';
import { MAX_KEPT_RECORDS } from '../../src/domain/reports/largest-records.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { preferConflict } from '../../src/store/reports/corrections.ts';
import { type Api, serveApi, startApi, walk } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  aRecord,
  aReportOf,
  receive,
  UNKNOWN_ID,
} from '../support/builders.ts';

const pathOf = (domainId: string, reportId: string) =>
  `/v1/external/domains/${domainId}/reports/${reportId}/records`;

async function serveReport(records: readonly ReturnType<typeof aRecord>[], api?: Api) {
  const { db, get } = api ?? (await serveApi());
  const { key, id } = await anAccount(db);
  const domain = await aDomain(db, id);
  const report = aReportOf(records, { domain: domain.name, reportId: 'one' });
  await receive(db, [report]);
  const path = pathOf(domain.id, toReportId(report));
  const read = (query = '', headers = {}) => get(`${path}${query}`, { key, headers });
  return { db, get, key, domain, report, path, read };
}

const RECORD = {
  ...aRecord({ sourceIp: '2001:db8::25', count: 23 }),
  policyEvaluated: {
    ...{ disposition: 'none', dkim: 'pass', spf: 'fail' },
    reasons: [{ type: 'local_policy', comment: 'arc=pass' }],
  },
  identifiers: { headerFrom: 'example.com', envelopeFrom: 'bounce.example', envelopeTo: null },
  authResults: {
    dkim: [{ domain: 'example.com', selector: 's1', result: 'pass', humanResult: 'good' }],
    spf: [{ domain: 'bounce.example', scope: 'mfrom', result: 'pass', humanResult: null }],
  },
};

describe('GET /v1/external/domains/{domain_id}/reports/{report_id}/records', () => {
  test('returns the list envelope, and records in the words of the standard', async () => {
    const { read } = await serveReport([RECORD]);
    expect((await read()).body).toStrictEqual({
      data: [
        {
          source_ip: '2001:db8::25',
          count: 23,
          policy_evaluated: {
            disposition: 'none',
            dkim: 'pass',
            spf: 'fail',
            reasons: [{ type: 'local_policy', comment: 'arc=pass' }],
          },
          identifiers: {
            header_from: 'example.com',
            envelope_from: 'bounce.example',
            envelope_to: null,
          },
          auth_results: {
            dkim: [{ domain: 'example.com', selector: 's1', result: 'pass', human_result: 'good' }],
            spf: [{ domain: 'bounce.example', scope: 'mfrom', result: 'pass', human_result: null }],
          },
          omitted: 0,
        },
      ],
      total: 1,
      revision: 1,
    });
  });

  test('a walk meets each record once, those with most messages first', async () => {
    const counts = [3, 9, 1, 7, 5];
    const { get, key, path } = await serveReport(
      counts.map((count, i) => aRecord({ sourceIp: `192.0.2.${i}`, count })),
    );
    const { items, totals } = await walk((page) => get(page, { key }), path, 2);
    expect(items.map((item) => (item as { count: number }).count)).toEqual([9, 7, 5, 3, 1]);
    expect([...totals]).toEqual([5]);
  });

  test('of a report with more records than are kept lists the kept ones, and the report counts all', async () => {
    const records = Array.from({ length: MAX_KEPT_RECORDS + 1 }, () => aRecord());
    const { get, key, domain, read } = await serveReport(records);
    const { body } = await read('?limit=1&offset=9999');
    expect([body.data.length, body.total]).toEqual([1, MAX_KEPT_RECORDS]);
    const reports = await get(`/v1/external/domains/${domain.id}/reports`, { key });
    expect(reports.body.data[0].record_count).toBe(MAX_KEPT_RECORDS + 1);
  });

  test('has an entity tag that changes when the report is corrected, and only then', async () => {
    const { db, domain, read } = await serveReport([RECORD]);
    const { etag = '' } = (await read()).headers;
    const again = () => read('', { 'If-None-Match': etag, 'X-Request-Id': 'mine' });
    const other = { domain: domain.name, reportId: 'one', payload: 'other' };
    await receive(db, [aReportOf([], { ...other, reportId: 'two' }), aReportOf([], other)]);
    expect((await again()).status).toBe(304);
    const { seq } = await db.selectFrom('conflict').select('seq').executeTakeFirstOrThrow();
    await preferConflict(db, seq);
    expect((await again()).body).toEqual({ data: [], total: 0, revision: 2 });
    await preferConflict(db, seq);
    expect((await again()).body).toMatchObject({ total: 1, revision: 3 });
  });

  describe('404', () => {
    let api: Api;
    beforeAll(async () => {
      api = await startApi();
      return api.close;
    });

    test('is the same for a report that nobody has, another domain’s, and another account’s', async () => {
      const { db, get, key, domain, path } = await serveReport([RECORD], api);
      const others = await serveReport([RECORD], api);
      const reportId = path.split('/')[6] ?? '';
      const sameAccount = await aDomain(db, (await anAccount(db)).id);
      const answers = await Promise.all(
        [
          pathOf(domain.id, UNKNOWN_ID),
          pathOf(UNKNOWN_ID, reportId),
          pathOf(sameAccount.id, reportId),
          others.path,
        ].map((wrong) => get(wrong, { key })),
      );
      const error = { code: 'not_found', message: 'No such report.' };
      for (const { status, body } of answers) {
        expect(status).toBe(404);
        expect(body).toEqual({ error });
      }
      expect((await get(path, { key })).status).toBe(200);
    });
  });
});
