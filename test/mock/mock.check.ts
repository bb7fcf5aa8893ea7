import createClient from 'openapi-fetch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { components, paths } from '../../generated/v1.d.ts';
import { holdToContract } from '../support/contract.ts';
import { operations, pathTemplates, toPath } from '../support/contract-document.ts';
import { findBroken } from '../support/prose-rules.ts';
import { startPrism } from './prism.ts';

const IDS = {
  domain_id: '0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e',
  report_id: '5b9f3d24-7a51-8c0e-9a57-2f5a0f6f8b3d',
  tls_report_id: '8a4c0d52-1b7e-8f21-9d3c-7e5b2a90c614',
};
const PATHS = Object.fromEntries(
  operations.map(({ operationId }, i) => [operationId, toPath(pathTemplates[i] as string, IDS)]),
);
const KEY = { Authorization: 'Bearer plb_live_any' };
/** What Prism adds to every answer. */
const OF_PRISM = /^(access-control-|sl-violations$)/;

let prism: Awaited<ReturnType<typeof startPrism>>;

beforeAll(async () => {
  prism = await startPrism();
});
afterAll(() => prism.stop());

/** An answer of the mock server, checked against the contract. */
async function ask(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(prism.url + path, { headers });
  const body = await answer.text();
  const own = [...answer.headers].filter(([name]) => !OF_PRISM.test(name));
  const exchange = { method: 'GET', path, status: answer.status, body };
  holdToContract({ ...exchange, headers: Object.fromEntries(own) });
  return { status: answer.status, body: body === '' ? undefined : JSON.parse(body), own };
}

const examples = operations.flatMap(({ operationId, responses }) =>
  Object.entries(responses).flatMap(([status, { content }]) => {
    const names = Object.keys(content?.['application/json']?.examples ?? {});
    return names.map((name) => ({ operationId, status, name }));
  }),
);

test.each(examples)(
  '$operationId $status $name fits the contract and its prose',
  async (wanted) => {
    const { operationId, status, name } = wanted;
    const prefer = `code=${status}, example=${name}`;
    const answer = await ask(PATHS[operationId] as string, { ...KEY, Prefer: prefer });
    expect(answer.status).toBe(Number(status));
    if (status === '200' && 'total' in answer.body) expect(findBroken(answer.body)).toEqual([]);
  },
);

describe.each(operations)('$operationId, without a preference', ({ operationId }) => {
  const path = PATHS[operationId] as string;

  test('does not contradict itself', async () => {
    const { status, body } = await ask(path, KEY);
    expect(status).toBe(200);
    if (!('total' in body)) return;
    expect(body.data.length).toBeGreaterThan(0);
    expect(findBroken(body)).toEqual([]);
  });

  test('announces no deprecation', async () => {
    const { own } = await ask(path, KEY);
    expect(own.filter(([name]) => /deprecation|sunset/i.test(name))).toEqual([]);
  });

  test('is a 304 on demand', async () => {
    expect((await ask(path, { ...KEY, Prefer: 'code=304' })).status).toBe(304);
  });

  test('without a key is a 401', async () => {
    const { status, body } = await ask(path);
    expect([status, body.error.code]).toEqual([401, 'unauthorized']);
  });
});

test.each(['/v1/external/domains/x/reports', `${PATHS['listReports']}?limit=0`])(
  '%s is a 422 that blames no other parameter',
  async (path) => {
    const { status, body } = await ask(path, KEY);
    expect([status, body.error.code]).toEqual([422, 'validation_error']);
    expect(body.error.message).not.toMatch(/"/);
  },
);

test('a generated client goes from domains to reports and alerts', async () => {
  const headers = { ...KEY };
  const plumbline = createClient<paths>({ baseUrl: prism.url, headers });
  const domains = await plumbline.GET('/v1/external/domains', { params: { query: { limit: 50 } } });
  const domain = domains.data?.data[0];
  expect(domain?.status).toBe('active');
  const reports = await plumbline.GET('/v1/external/domains/{domain_id}/reports', {
    params: { path: { domain_id: domain?.id ?? '' }, query: { offset: 0 } },
  });
  const [report] = (reports.data?.data ?? []) as readonly components['schemas']['Report'][];
  expect(report?.total_messages).toBeGreaterThan(0);
  const alerts = await plumbline.GET('/v1/external/alerts');
  const context = alerts.data?.data[0]
    ?.context as components['schemas']['AlignmentRegressionContext'];
  expect(context.drop_pct).toBeGreaterThanOrEqual(10);
  const refused = await createClient<paths>({ baseUrl: prism.url }).GET('/v1/external/alerts');
  expect(refused.error?.error.code).toBe('unauthorized');
});
