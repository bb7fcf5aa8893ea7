import { describe, expect, test } from 'vitest';
import { readContract } from '../../src/external/contract/contract.ts';
import { serveApi } from '../support/api.ts';
import { aDomain, anAccount } from '../support/builders.ts';

const PATHS = {
  listDomains: '/v1/external/domains',
  listReports: '/v1/external/domains/{domain_id}/reports',
  listAlerts: '/v1/external/alerts',
} as const;
type OperationId = keyof typeof PATHS;
const OPERATIONS = Object.keys(PATHS) as OperationId[];

const DEPRECATED = { deprecated: true, 'x-deprecated-at': '2026-01-01', 'x-sunset': '2026-07-01' };
const ANNOUNCED = ['@1767225600', 'Wed, 01 Jul 2026 00:00:00 GMT'];
const SILENT = [undefined, undefined];

/** The contract, with extensions on one operation. */
function contractWith(operationId: OperationId, extensions: Record<string, unknown>) {
  const document = readContract();
  Object.assign(document.paths?.[PATHS[operationId]]?.get ?? {}, extensions);
  return document;
}

/** An API whose contract marks one operation, and a function that returns the two headers of any operation. */
async function serveMarked(operationId: OperationId, extensions: Record<string, unknown>) {
  const api = await serveApi({ document: contractWith(operationId, extensions) });
  const { id, key } = await anAccount(api.db);
  const domain = await aDomain(api.db, id);
  return async (of: OperationId, headers: Record<string, string> = {}, method = 'GET') => {
    const path = PATHS[of].replace('{domain_id}', domain.id);
    const answer = await api.get(path, { key, headers, method });
    return [answer.status, answer.headers['deprecation'], answer.headers['sunset']];
  };
}

describe.each(OPERATIONS)('%s, deprecated', (operationId) => {
  test('the headers are on 200 and 304, for GET and HEAD (1.16)', async () => {
    const ask = await serveMarked(operationId, DEPRECATED);
    const known = { 'If-None-Match': '*' };
    for (const method of ['GET', 'HEAD']) {
      expect(await ask(operationId, {}, method)).toEqual([200, ...ANNOUNCED]);
      expect(await ask(operationId, known, method)).toEqual([304, ...ANNOUNCED]);
    }
  });

  test('the headers are on a cached page too', async () => {
    const ask = await serveMarked(operationId, DEPRECATED);
    const first = await ask(operationId);
    expect([first, await ask(operationId)]).toEqual([first, [200, ...ANNOUNCED]]);
  });

  test('the headers are on no other operation', async () => {
    const ask = await serveMarked(operationId, DEPRECATED);
    for (const other of OPERATIONS.filter((name) => name !== operationId)) {
      expect(await ask(other), other).toEqual([200, ...SILENT]);
    }
  });
});

test('no operation of openapi/v1.yaml is deprecated', async () => {
  const ask = await serveMarked('listDomains', {});
  for (const operationId of OPERATIONS) expect(await ask(operationId)).toEqual([200, ...SILENT]);
});

describe('the contract is not served when an operation', () => {
  const { deprecated: _, ...days } = DEPRECATED;
  const HALF =
    /listReports of the contract needs deprecated: true, and days for x-deprecated-at and x-sunset/;
  const SOON = /listReports of the contract has its x-sunset less than 6 months/;

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['is deprecated without days', { deprecated: true }, HALF],
    ['has no sunset', { ...DEPRECATED, 'x-sunset': undefined }, HALF],
    ['has no day of deprecation', { ...DEPRECATED, 'x-deprecated-at': undefined }, HALF],
    ['has both days and is not deprecated', days, HALF],
    ['has a sunset and is not deprecated', { 'x-sunset': '2026-07-01' }, HALF],
    ['has an instant for a day', { ...DEPRECATED, 'x-sunset': '2026-07-01T00:00:00Z' }, HALF],
    ['has a day that does not exist', { ...DEPRECATED, 'x-deprecated-at': '2025-11-31' }, HALF],
    [
      'has a sunset one day before six months are over',
      { ...DEPRECATED, 'x-sunset': '2026-06-30' },
      SOON,
    ],
    ['has a sunset before its deprecation', { ...DEPRECATED, 'x-sunset': '2025-07-01' }, SOON],
  ])('%s', async (_what, extensions, message) => {
    const document = contractWith('listReports', extensions);
    await expect(serveApi({ document })).rejects.toThrow(message);
  });
});
