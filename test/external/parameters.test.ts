import { beforeAll, describe, expect, test } from 'vitest';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { type Api, startApi } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aRecord,
  aReport,
  aReportOf,
  receive,
  UNKNOWN_ID,
} from '../support/builders.ts';
import { operations, pathTemplates } from '../support/contract-document.ts';

/** Each operation's path with each parameter of a query that only other operations have. */
function listOthers(): [path: string, name: string][] {
  const toNames = ({ parameters }: (typeof operations)[number]) =>
    parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  const all = [...new Set(operations.flatMap(toNames))];
  return operations.flatMap((operation, i) => {
    const path = pathTemplates[i]?.replace(/\{\w+\}/g, UNKNOWN_ID) ?? '';
    const own = toNames(operation);
    return all.filter((name) => !own.includes(name)).map((name): [string, string] => [path, name]);
  });
}

const LIMIT = '"limit" must be a whole number from 1 to 200, in decimal digits, given once.';
const OFFSET = '"offset" must be a whole number of 0 or more, in decimal digits, given once.';

let api: Api;
let key: string;
let paths: string[];

/** Three domains; the first has three reports, three sources and three alerts. */
beforeAll(async () => {
  api = await startApi();
  const account = await anAccount(api.db);
  key = account.key;
  const domain = await aDomain(api.db, account.id);
  await aDomain(api.db, account.id);
  await aDomain(api.db, account.id);
  const records = [1, 2, 3].map((n) => aRecord({ sourceIp: `192.0.2.${n}` }));
  const report = aReportOf(records, { domain: domain.name });
  await receive(api.db, [report, ...[1, 2].map(() => aReport({ domain: domain.name }))]);
  for (let i = 0; i < 3; i++) {
    await anAlert(api.db, { accountId: account.id, domainId: domain.id });
  }
  paths = [
    '/v1/external/domains',
    `/v1/external/domains/${domain.id}/reports`,
    `/v1/external/domains/${domain.id}/reports/${toReportId(report)}/records`,
    `/v1/external/domains/${domain.id}/sources?from=2026-03-01&until=2026-03-31`,
    '/v1/external/reports',
    '/v1/external/alerts',
    `/v1/external/alerts?domain_id=${domain.id}`,
  ];
  return api.close;
});

async function askAll(query: string) {
  const answers = [];
  for (const path of paths) {
    answers.push(await api.get(`${path}${path.includes('?') ? '&' : '?'}${query}`, { key }));
  }
  return answers;
}

/** Texts that are not a number of items. */
const MALFORMED = [
  'abc',
  '',
  '1.5',
  '1.0',
  '1e2',
  '1E2',
  '0x10',
  '0b1',
  '0o7',
  '%2B5',
  '+5',
  '-1',
  '-0',
  '%205',
  '5%20',
  '5%0A',
  '5%00',
  '%00',
  '1_000',
  '1,000',
  '%D9%A1',
  '%EF%BC%91',
  'NaN',
  'Infinity',
  'null',
  'true',
  '%zz',
  '%',
  '%FF',
  '%22%2210',
];

describe('limit, on every list', () => {
  test.each(['0', '00', '201', '0201', '99999999999999999999', '9'.repeat(400)])(
    '%s is out of range: 422',
    async (value) => {
      for (const { status, body } of await askAll(`limit=${value}`)) {
        expect(status).toBe(422);
        expect(body.error).toEqual({ code: 'validation_error', message: LIMIT });
      }
    },
  );

  test.each(MALFORMED)('"%s" is not decimal digits: 422', async (value) => {
    for (const { status, body } of await askAll(`limit=${value}`)) {
      expect(status).toBe(422);
      expect(body.error).toEqual({ code: 'validation_error', message: LIMIT });
    }
  });

  test.each([
    'limit',
    'limit=1&limit=1',
    'limit=1&limit=2',
    'limit=&limit=1',
    'limit[]=1',
    'limit%5B%5D=1',
    'limit[0]=1',
    'limit[a][b]=1',
    'limit=1&limit[]=1',
    'l%69mit=0',
  ])('%s: 422', async (query) => {
    for (const { status, body } of await askAll(query)) {
      expect(status).toBe(422);
      expect(body.error).toEqual({ code: 'validation_error', message: LIMIT });
    }
  });

  test.each([
    ['1', 1],
    ['2', 2],
    ['200', 3],
    ['002', 2],
    ['%32', 2],
  ])('%s: %i items', async (value, count) => {
    for (const { status, body } of await askAll(`limit=${value}`)) {
      expect(status).toBe(200);
      expect(body.data).toHaveLength(count);
      expect(body.total).toBe(3);
    }
  });
});

describe('offset, on every list', () => {
  test.each(MALFORMED)('"%s" is not decimal digits: 422', async (value) => {
    for (const { status, body } of await askAll(`offset=${value}`)) {
      expect(status).toBe(422);
      expect(body.error).toEqual({ code: 'validation_error', message: OFFSET });
    }
  });

  test.each(['offset', 'offset=1&offset=1', 'offset[]=1', 'offset[$gt]=1'])(
    '%s: 422',
    async (query) => {
      for (const { status, body } of await askAll(query)) {
        expect(status).toBe(422);
        expect(body.error).toEqual({ code: 'validation_error', message: OFFSET });
      }
    },
  );

  test.each(['0', '00', '000000000000000000000000'])('%s: from the first item', async (value) => {
    for (const { body } of await askAll(`offset=${value}`)) expect(body.data).toHaveLength(3);
  });

  test.each([
    '3',
    '2147483647',
    '2147483648',
    '4294967296',
    '9007199254740991',
    '9007199254740993',
    '9223372036854775807',
    '9223372036854775808',
    '99999999999999999999',
    '9'.repeat(400),
  ])('%s is past the end: an empty page and the true total', async (value) => {
    for (const { status, body } of await askAll(`offset=${value}`)) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ data: [], total: 3 });
    }
  });

  test('one before the end: the last item', async () => {
    for (const { body } of await askAll('offset=2')) expect(body.data).toHaveLength(1);
  });
});

describe('other parameters', () => {
  test.each([
    'x=1',
    'LIMIT=0',
    'Limit=x',
    'limits=0',
    'limit.x=0',
    '__proto__=1',
    '__proto__[limit]=0',
    'constructor=1',
    'toString=1',
    '=limit',
    '&&&',
    '?limit=0',
    '%zz=%zz',
    '%00=%00',
    'api_key=1',
    'cursor=abc&sort=asc',
    `x=${'y'.repeat(8_000)}`,
  ])('%s is ignored: 200, the same bytes as without', async (query) => {
    const plain = await askAll('');
    const answers = await askAll(query);
    expect(answers.map(({ text }) => text)).toEqual(plain.map(({ text }) => text));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });

  test.each(listOthers())(
    '%s?%s was ignored, and answered with other data: it is a 422, also in brackets',
    async (path, name) => {
      const message = `"${name}" is no parameter of this operation.`;
      for (const given of [name, `${name}[]`]) {
        const { status, body } = await api.get(`${path}?${given}=start`, { key });
        expect([status, body.error]).toEqual([422, { code: 'validation_error', message }]);
      }
    },
  );

  test('of two invalid parameters one is named', async () => {
    for (const { status, body } of await askAll('limit=0&offset=-1')) {
      expect(status).toBe(422);
      expect([LIMIT, OFFSET]).toContain(body.error.message);
    }
  });
});
