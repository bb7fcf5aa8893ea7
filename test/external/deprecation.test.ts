import { describe, expect, test } from 'vitest';
import { findDeprecationFault } from '../../scripts/contract/deprecations.ts';
import type { DeclaredOperation } from '../../src/external/contract-document.ts';
import { copyContract, serveApi } from '../support/api.ts';
import { aDomain, anAccount } from '../support/builders.ts';
import { operations } from '../support/contract-document.ts';

const PATHS = {
  listDomains: '/v1/external/domains',
  listReports: '/v1/external/domains/{domain_id}/reports',
  listAlerts: '/v1/external/alerts',
} as const;
type OperationId = keyof typeof PATHS;
const OPERATIONS = Object.keys(PATHS) as OperationId[];

const DAYS = { deprecated: true, 'x-deprecated-at': '2026-01-01', 'x-sunset': '2026-07-01' };
const HEADERS = {
  Deprecation: { schema: { type: 'string' } },
  Sunset: { schema: { type: 'string' } },
};
const DEPRECATED = { ...DAYS, declaredIn: ['200', '304'] };
const ANNOUNCED = ['@1767225600', 'Wed, 01 Jul 2026 00:00:00 GMT'];
const SILENT = [undefined, undefined];

interface Marks extends Record<string, unknown> {
  /** The statuses that declare the two headers. */
  readonly declaredIn?: readonly string[];
}

/** The contract, with extensions on one operation. */
async function contractWith(operationId: OperationId, { declaredIn = [], ...extensions }: Marks) {
  const document = await copyContract();
  const operation = document.paths?.[PATHS[operationId]]?.get;
  Object.assign(operation ?? {}, extensions);
  const responses = (operation?.responses ?? {}) as Answers;
  for (const status of declaredIn) {
    const { $ref: _, headers, ...answer } = responses[status] ?? {};
    responses[status] = { ...answer, headers: { ...headers, ...HEADERS } };
  }
  return document;
}

type Answers = Record<string, { readonly $ref?: string; readonly headers?: object }>;

/** An API whose contract marks one operation, and a function that returns the two headers of any operation. */
async function serveMarked(operationId: OperationId, extensions: Marks) {
  const api = await serveApi({ document: await contractWith(operationId, extensions) });
  const { id, key } = await anAccount(api.db);
  const domain = await aDomain(api.db, id);
  return async (of: OperationId, headers: Record<string, string> = {}, method = 'GET') => {
    const path = PATHS[of].replace('{domain_id}', domain.id);
    // Not checked against v1.yaml, which declares the two headers nowhere.
    const answer = await api.send(path, { key, headers, method });
    return [answer.status, answer.headers['deprecation'], answer.headers['sunset']];
  };
}

describe.each(OPERATIONS)('%s, deprecated', (operationId) => {
  test('the headers are on 200 and 304, for GET and HEAD', async () => {
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

test('openapi/v1.yaml declares the headers nowhere, so that no mock server sends them', async () => {
  const names = JSON.stringify(await copyContract()).match(/"(Deprecation|Sunset)":/g);
  expect(names).toBeNull();
});

test('no operation of openapi/v1.yaml is deprecated', async () => {
  const ask = await serveMarked('listDomains', {});
  for (const operationId of OPERATIONS) expect(await ask(operationId)).toEqual([200, ...SILENT]);
});

describe('an operation of the contract is at fault when it', () => {
  const { deprecated: _, ...days } = DEPRECATED;
  const HALF = /needs deprecated: true, and days for x-deprecated-at and x-sunset/;
  const UNDECLARED = /needs the headers Deprecation and Sunset in its 200/;
  const SOON = /has its x-sunset less than 6 months/;

  test.each<[string, Marks, RegExp]>([
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
    ['does not declare the headers', DAYS, UNDECLARED],
    ['declares them for 200 only', { ...DAYS, declaredIn: ['200'] }, UNDECLARED],
  ])('%s', async (_what, extensions, message) => {
    const { paths } = await contractWith('listReports', extensions);
    const operation = paths?.[PATHS.listReports]?.get as unknown as DeclaredOperation;
    expect(findDeprecationFault(operation)).toMatch(message);
  });
});

test.each(operations)('$operationId is not at fault', (operation) => {
  expect(findDeprecationFault(operation as Omit<DeclaredOperation, 'parameters'>)).toBeUndefined();
});
