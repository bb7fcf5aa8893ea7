import { expect, test } from 'vitest';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import type { TlsReport } from '../../src/domain/reports/tls-report.ts';
import { type Answer, serveApi } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aRecord,
  aReport,
  aReportOf,
  receive,
} from '../support/builders.ts';
import { operations, pathTemplates } from '../support/contract-document.ts';
import { aReadFailure, aReadPolicy, aReadTlsReport } from '../support/tls-report.ts';

/* Every list names the request for its next page while there is more (RFC 8288), so that a client that knows only `Link` has all. */

const NEXT = /^<([^>]+)>; rel="next"$/;

/** The lists of the contract, by their paths, with the days on which the account has something where they take days. */
const LISTS = operations.flatMap(({ parameters, responses }, i) => {
  const schema = responses[200]?.content?.['application/json']?.schema as ListSchema | undefined;
  if (schema?.properties.data.type !== 'array') return [];
  const hasDays = parameters.some(({ name }) => name === 'until');
  return [
    [pathTemplates[i] as string, hasDays ? 'from=2026-03-01&until=2026-03-31&' : ''] as const,
  ];
});

type ListSchema = { readonly properties: { readonly data: { readonly type: string } } };

/** An account that has three items or more in each list. */
async function serveLists() {
  const { db, get } = await serveApi();
  const { id: accountId, key } = await anAccount(db);
  const { id, name: domain } = await aDomain(db, accountId);
  for (let i = 0; i < 4; i += 1) await aDomain(db, accountId);
  const sources = [1, 2, 3].map((n) => aRecord({ sourceIp: `192.0.2.${n}`, count: n }));
  const report = aReportOf(sources, { domain });
  const begins = ['2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z', '2026-03-12T00:00:00Z'];
  await receive(db, [report, ...begins.map((begin) => aReport({ domain, begin }))]);
  const policies = [
    aReadPolicy({ domain, details: [1, 2, 3].map((sessions) => aReadFailure({ sessions })) }),
  ];
  const tls = begins.map((begin) => aReadTlsReport({ domain, begin, policies }));
  await receive(db, tls);
  for (const type of ['alert.a', 'alert.b', 'alert.c'])
    await anAlert(db, { accountId, domainId: id }, { type });
  const ids = {
    ...{ domain_id: id, report_id: toReportId(report) },
    tls_report_id: toReportId(tls[0] as TlsReport),
  };
  const toPath = (path: string) => path.replace(/\{(\w+)\}/g, (_, key) => ids[key as 'domain_id']);
  return { toPath, domainId: id, get: (path: string, sent = {}) => get(path, { key, ...sent }) };
}

type Get = (path: string) => Promise<Answer>;

const nextOf = ({ headers }: Answer) => headers['link']?.match(NEXT)?.[1];

/** The pages that a client gets which knows only `Link`. */
async function follow(get: Get, path: string): Promise<Answer[]> {
  const pages = [await get(path)];
  for (let next = nextOf(pages[0] as Answer); next !== undefined && pages.length < 100; ) {
    const page = await get(next);
    pages.push(page);
    next = nextOf(page);
  }
  return pages;
}

const itemsOf = (pages: readonly Answer[]) => pages.flatMap(({ body }) => body.data);

test.each(LISTS)('%s is read to its end by Link alone', async (list, range) => {
  const { get, toPath } = await serveLists();
  const path = toPath(list);
  const whole = await get(`${path}?${range}limit=200`);
  expect(whole.body.data.length).toBeGreaterThan(2);
  expect(whole.headers).not.toHaveProperty('link');
  const pages = await follow(get, `${path}?${range}limit=2`);
  expect(itemsOf(pages)).toEqual(whole.body.data);
  expect(pages.every(({ body }) => body.data.length > 0)).toBe(true);
});

test.each([
  '/v1/external/domains/{domain_id}/reports?received_after',
  '/v1/external/alerts?changed_after',
])('%s is read to its end, while items come', async (list) => {
  const { get, toPath } = await serveLists();
  const pages = await follow(get, `${toPath(list)}=start&limit=1`);
  expect(
    itemsOf(pages)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(
    (await get(toPath(list).split('?')[0] as string)).body.data
      .map(({ id }: { id: string }) => id)
      .toSorted(),
  );
  expect(nextOf(pages[0] as Answer)).toMatch(/_after=[\w-]{31}(&|$)/);
});

test('keeps the other parameters, and what the operation does not know is left out', async () => {
  const { get, domainId } = await serveLists();
  const path = `/v1/external/alerts?limit=1&x=${'x'.repeat(5_000)}&domain_id=${domainId}&offset=1`;
  expect(
    new URL(nextOf(await get(path)) ?? '', 'http://h').search.slice(1).split('&').toSorted(),
  ).toEqual([`domain_id=${domainId}`, 'limit=1', 'offset=2']);
});

test('HEAD has it, a page from memory too, and a 304 has none', async () => {
  const { get } = await serveLists();
  const path = '/v1/external/domains?limit=2';
  const pages = [await get(path), await get(path), await get(path, { method: 'HEAD' })];
  for (const page of pages) expect(nextOf(page)).toBe(`${path}&offset=2&status=active`);
  const headers = { 'If-None-Match': pages[0]?.headers['etag'] };
  const known = await get(path, { headers });
  expect([known.status, nextOf(known)]).toEqual([304, undefined]);
});

test('a page past the end has none', async () => {
  const { get } = await serveLists();
  expect(nextOf(await get('/v1/external/domains?offset=99999999999999999999'))).toBeUndefined();
});
