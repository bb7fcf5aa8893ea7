import { beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '../../src/domain/reports/refusal.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { insertDomain, updateDomainStatus } from '../../src/store/domains/domains.ts';
import { type Answer, type Api, serveApi, startApi, walk } from '../support/api.ts';
import { aDomain, anAccount, anAlert, aReport, NOW, receive } from '../support/builders.ts';

const NOBODYS = 'f0000000-0000-4000-8000-00000000000f';
const pathOf = (domainId: string) => `/v1/external/domains/${domainId}/reports`;
const ids = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);

/** An account with one domain, and a function that reads that domain's reports. */
async function serveReports(api?: Api) {
  api ??= await serveApi();
  const account = await anAccount(api.db);
  const domain = await aDomain(api.db, account.id, { name: 'example.com' });
  const read = (query = '', headers: Record<string, string> = {}) =>
    api.get(`${pathOf(domain.id)}${query}`, { key: account.key, headers });
  return { ...api, account, domain, read };
}

describe('GET /v1/external/domains/{domain_id}/reports', () => {
  describe('200', () => {
    test('returns the list envelope; reports have the eight fields of 2.2', async () => {
      const { db, read } = await serveReports();
      const report = aReport({
        orgName: 'Mailbox Provider',
        email: 'dmarc-reports@provider.example',
        begin: '2026-03-14T00:00:00Z',
        end: '2026-03-14T23:59:59Z',
        recordCount: 4,
        totalMessages: 1830,
        alignedMessages: 1807,
      });
      await receive(db, [report]);
      expect((await read()).body).toStrictEqual({
        data: [
          {
            id: toReportId(report),
            reporter_org: 'Mailbox Provider',
            reporter_email: 'dmarc-reports@provider.example',
            begin_date: '2026-03-14T00:00:00Z',
            end_date: '2026-03-14T23:59:59Z',
            record_count: 4,
            total_messages: 1830,
            aligned_messages: 1807,
            revision: 1,
          },
        ],
        total: 1,
      });
    });

    test('reporter_org and reporter_email are null when the report left them out', async () => {
      const { db, read } = await serveReports();
      await receive(db, [aReport({ orgName: null, email: null })]);
      const [report] = (await read()).body.data;
      expect([report.reporter_org, report.reporter_email]).toEqual([null, null]);
    });

    test('text in a report is served unchanged', async () => {
      const { db, read } = await serveReports();
      const orgName = 'Ünïcode “Mail” \u2028 <b>&\\ 邮件 🐙';
      await receive(db, [aReport({ orgName })]);
      expect((await read()).body.data[0].reporter_org).toBe(orgName);
    });

    test('a report without records, and one with the largest number of messages', async () => {
      const { db, read } = await serveReports();
      const most = Number.MAX_SAFE_INTEGER;
      await receive(db, [
        aReport({ recordCount: 0, totalMessages: 0, alignedMessages: 0 }),
        aReport({ totalMessages: most, alignedMessages: most }),
      ]);
      const { data } = (await read()).body;
      expect(data.map((r: { total_messages: number }) => r.total_messages)).toEqual([most, 0]);
    });

    test('a window that ends before it begins is served as sent', async () => {
      const { db, read } = await serveReports();
      await receive(db, [aReport({ begin: '2026-03-14T00:00:00Z', end: '2026-03-13T00:00:00Z' })]);
      expect((await read()).body.data[0].end_date).toBe('2026-03-13T00:00:00Z');
    });

    test('newest first: by begin_date, and among equals by arrival', async () => {
      const { db, read } = await serveReports();
      const [older, newer] = ['2026-03-13T00:00:00Z', '2026-03-14T00:00:00Z'];
      const [first, second] = [aReport({ begin: newer }), aReport({ begin: newer })];
      const [late, soon] = [aReport({ begin: older }), aReport({ begin: '2026-03-14T00:00:01Z' })];
      await receive(db, [first, soon, second], '2026-03-15T00:00:00Z');
      await receive(db, [late], '2026-03-20T00:00:00Z');
      expect(ids(await read())).toEqual([soon, second, first, late].map(toReportId));
    });

    test('in pages of seven, 100 reports with ties come once each and in order', async () => {
      const { db, read } = await serveReports();
      const days = ['2026-01-31', '2026-02-01', '2026-02-28', '2026-03-01', '2025-12-31'];
      const reports = Array.from({ length: 100 }, (_, i) =>
        aReport({ begin: `${days[(i * 3) % 5]}T${i % 2 === 0 ? '00:00:00' : '23:59:59'}Z` }),
      );
      await receive(db, reports);
      const wanted = reports
        .map((report, i) => ({ id: toReportId(report), begin: report.metadata.begin, i }))
        .toSorted((a, b) => b.begin - a.begin || b.i - a.i)
        .map(({ id }) => id);
      const { items, totals } = await walk((path) => read(path), '', 7);
      expect(items.map((r) => (r as { id: string }).id)).toEqual(wanted);
      expect([...totals]).toEqual([100]);
    });

    test('every offset and limit is the same slice of the whole list, also at borders of months and days', async () => {
      const { db, read } = await serveReports();
      const instants = [
        '2024-02-29T12:00:00Z',
        '2025-11-30T23:59:59Z',
        '2025-12-01T00:00:00Z',
        '2025-12-01T00:00:00Z',
        '2025-12-31T23:59:59Z',
        '2026-01-01T00:00:00Z',
        '2026-01-01T00:00:01Z',
        '2026-01-31T00:00:00Z',
      ];
      await receive(
        db,
        [...instants, ...instants, ...instants].map((begin) => aReport({ begin })),
      );
      const whole = ids(await read('?limit=200'));
      expect(whole).toHaveLength(24);
      for (let offset = 0; offset <= 25; offset++) {
        for (const limit of [1, 3, 200]) {
          const page = await read(`?limit=${limit}&offset=${offset}`);
          expect(ids(page), `limit ${limit}, offset ${offset}`).toEqual(
            whole.slice(offset, offset + limit),
          );
        }
      }
    });

    test('reports of a paused domain stay readable by id', async () => {
      const { db, domain, read } = await serveReports();
      await receive(db, [aReport()]);
      await updateDomainStatus(db, domain.id, 'paused');
      await receive(db, [aReport()]);
      expect((await read()).body.total).toBe(2);
    });

    test('a claimed domain has the reports that came before it was registered', async () => {
      const { db, get } = await serveApi();
      const { id: accountId, key } = await anAccount(db);
      const begin = ['2026-03-12T00:00:00Z', '2026-03-14T00:00:00Z', '2026-03-13T00:00:00Z'];
      const reports = begin.map((b) => aReport({ domain: 'early.example', begin: b }));
      expect(await receive(db, reports)).toEqual(['unclaimed', 'unclaimed', 'unclaimed']);
      const { id } = await insertDomain(db, { accountId, name: 'Early.Example.', now: NOW });
      const first = await get(`${pathOf(id)}?limit=2`, { key });
      const second = await get(`${pathOf(id)}?limit=2&offset=2`, { key });
      expect([first.body.total, second.body.total]).toEqual([3, 3]);
      const [a, b, c] = reports.map(toReportId);
      expect([...ids(first), ...ids(second)]).toEqual([b, c, a]);
    });

    test('shows the reports of this domain only', async () => {
      const { db, account, read } = await serveReports();
      const other = await aDomain(db, account.id);
      const report = aReport();
      await receive(db, [report, aReport({ domain: other.name })]);
      expect(ids(await read())).toEqual([toReportId(report)]);
    });

    test('duplicates, conflicts and rejections are not listed', async () => {
      const { db, read } = await serveReports();
      const report = aReport({ reportId: 'one', totalMessages: 10 });
      const other = aReport({ reportId: 'one', totalMessages: 99, payload: 'other' });
      const refusal = new Refusal('bad_xml', 'not well-formed');
      expect(await receive(db, [report, report, other, refusal])).toEqual([
        'stored',
        'duplicate',
        'conflict',
        'rejected',
      ]);
      const { body } = await read();
      expect([body.total, body.data.length, body.data[0].total_messages]).toEqual([1, 1, 10]);
    });

    test('the id may be in either case', async () => {
      const { db, get, account, domain, read } = await serveReports();
      await receive(db, [aReport()]);
      const upper = await get(pathOf(domain.id.toUpperCase()), { key: account.key });
      expect(upper.text).toBe((await read()).text);
    });
  });

  describe('304', () => {
    type World = Awaited<ReturnType<typeof serveReports>> & { known: ReturnType<typeof aReport> };
    test.each<[string, boolean, (world: World) => Promise<unknown>]>([
      ['a report comes for the domain', true, ({ db }) => receive(db, [aReport()])],
      [
        'a late report is inserted in the middle',
        true,
        ({ db }) => receive(db, [aReport({ begin: '2020-01-01T00:00:00Z' })]),
      ],
      ['the same report comes again', false, ({ db, known }) => receive(db, [known])],
      [
        'a conflicting report comes',
        false,
        ({ db, known }) => receive(db, [{ ...known, payloadSha256: '00' }]),
      ],
      [
        'a file is rejected',
        false,
        ({ db }) => receive(db, [new Refusal('bad_xml', 'not well-formed')]),
      ],
      [
        'a report comes for another domain of the account',
        false,
        async ({ db, account }) => {
          const { name } = await aDomain(db, account.id);
          await receive(db, [aReport({ domain: name })]);
        },
      ],
      [
        'the domain is paused',
        false,
        ({ db, domain }) => updateDomainStatus(db, domain.id, 'paused'),
      ],
      [
        'an alert fires for the domain',
        false,
        ({ db, account, domain }) => anAlert(db, { accountId: account.id, domainId: domain.id }),
      ],
    ])('when %s, the ETag changes: %s', async (_what, changes, act) => {
      const world = await serveReports();
      const known = aReport();
      await receive(world.db, [known]);
      const before = await world.read();
      await act({ ...world, known });
      const after = await world.read('', { 'If-None-Match': before.headers['etag'] as string });
      expect(after.status).toBe(changes ? 200 : 304);
      expect((await world.read()).text === before.text).toBe(!changes);
    });
  });

  describe('404', () => {
    test('a domain of another account and an unknown one: the same bytes', async () => {
      const { db, get, account } = await serveReports();
      const theirs = await anAccount(db);
      const foreign = await aDomain(db, theirs.id, { name: 'theirs.example' });
      await receive(db, [aReport({ domain: foreign.name })]);
      const headers = { 'X-Request-Id': 'same' };
      const answers = [];
      for (const id of [foreign.id, NOBODYS]) {
        answers.push(await get(pathOf(id), { key: account.key, headers }));
      }
      const [a, b] = answers as [Answer, Answer];
      expect(a.status).toBe(404);
      expect(a.body).toEqual({ error: { code: 'not_found', message: 'No such domain.' } });
      expect(b).toEqual({
        ...a,
        headers: {
          ...a.headers,
          date: expect.any(String),
          ratelimit: expect.any(String),
        },
      });
      expect((await get(pathOf(foreign.id), { key: theirs.key })).status).toBe(200);
    });

    test('a domain that nobody has registered belongs to no account', async () => {
      const { db, get, account } = await serveReports();
      await receive(db, [aReport({ domain: 'nobody.example' })]);
      const { id } = await db
        .selectFrom('domain')
        .select('id')
        .where('name', '=', 'nobody.example')
        .executeTakeFirstOrThrow();
      expect((await get(pathOf(id), { key: account.key })).status).toBe(404);
    });

    test('an entity tag of another account’s list gives no access', async () => {
      const { db, get, account } = await serveReports();
      const theirs = await anAccount(db);
      const { id } = await aDomain(db, theirs.id);
      const { etag } = (await get(pathOf(id), { key: theirs.key })).headers;
      for (const tag of [etag as string, '*']) {
        const headers = { 'If-None-Match': tag };
        expect((await get(pathOf(id), { key: account.key, headers })).status).toBe(404);
      }
    });
  });

  describe('422', () => {
    let world: Awaited<ReturnType<typeof serveReports>>;
    beforeAll(async () => {
      const api = await startApi();
      world = await serveReports(api);
      return api.close;
    });

    test.each([
      'x',
      '0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0',
      '0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e0',
      '0b54ab8e6dd14b55a0f53f6c1bb4ee0e',
      'urn:uuid:0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e',
      '{0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e}',
      '0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e%00',
      '0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e%0A',
      '0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0g',
      '%20',
      '%2F',
      '%zz',
      '%',
      '1',
    ])('the id %s is not a UUID', async (id) => {
      const { get, account } = world;
      const answer = await get(pathOf(id), { key: account.key });
      expect(answer.status).toBe(422);
      expect(answer.body.error).toEqual({
        code: 'validation_error',
        message: '"domain_id" must be a UUID, given once.',
      });
    });

    test('an id may be percent-encoded', async () => {
      const { get, account, domain } = world;
      const encoded = domain.id.replaceAll('-', '%2D');
      expect((await get(pathOf(encoded), { key: account.key })).status).toBe(200);
    });
  });
});
