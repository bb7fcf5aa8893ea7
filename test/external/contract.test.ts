import { describe, expect, test } from 'vitest';
import { openContract } from '../../src/external/contract.ts';
import type { Parameter } from '../../src/external/parameters.ts';
import { copyContract, serveApi } from '../support/api.ts';
import { anAccount } from '../support/builders.ts';

const ID = '0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e';
const REPORTS = `/v1/external/domains/${ID}/reports`;
const ALERTS = '/v1/external/alerts';

/** The contract with one more parameter of the query of alerts. */
async function contractWith(schema: Parameter['schema'], more: object = {}) {
  const document = await copyContract();
  const parameters = document.paths?.[ALERTS]?.get?.parameters as object[];
  parameters.push({ name: 'since', in: 'query', schema, ...more });
  return document;
}

async function parametersOf(url: string, document?: Parameters<typeof openContract>[0]) {
  const { validate } = await openContract(document ?? (await copyContract()));
  return JSON.stringify(validate({ method: 'GET', url } as never).parameters);
}

describe('what a handler receives, and what a page is kept by', () => {
  test('is one value for all texts that mean the same', async () => {
    const same = [
      REPORTS,
      `${REPORTS}?offset=0&limit=50`,
      `${REPORTS}?limit=050&x=1&offset=00`,
      `${REPORTS.replace(ID, ID.toUpperCase())}?`,
      REPORTS.replace('-', '%2D'),
    ];
    for (const url of same)
      expect(await parametersOf(url), url).toBe(
        `{"path":{"domain_id":"${ID}"},"query":{"limit":50,"offset":0}}`,
      );
  });

  test('has a filter that nobody put into the key: every parameter of the contract', async () => {
    const document = await contractWith({ type: 'string', format: 'date-time' });
    const plain = await parametersOf(ALERTS, document);
    expect(await parametersOf(`${ALERTS}?since=2026-03-14T00:00:00Z`, document)).not.toBe(plain);
    expect(await parametersOf(`${ALERTS}?domain_id=${ID}`, document)).not.toBe(plain);
  });
});

describe('a malformed value was answered with the message for cursors', () => {
  test.each<[Parameter['schema'], string, string]>([
    [{ type: 'string', format: 'date-time' }, 'x', 'a timestamp like 2026-03-14T00:00:00Z'],
    [{ type: 'string', format: 'date' }, '2026-02-30', 'a day like 2026-03-14'],
    [{ type: 'string', format: 'uuid' }, 'x', 'a UUID'],
    [{ type: 'string', enum: ['open', 'resolved'] }, 'x', 'one of open, resolved'],
    [{ type: 'string', pattern: '^[a-z]+$' }, '1', 'text that matches ^[a-z]+$'],
    [{ type: 'string', maxLength: 3 }, 'long', 'text of at most 3 characters'],
    [
      { type: 'integer', minimum: 2, maximum: 9 },
      '1',
      'a whole number from 2 to 9, in decimal digits',
    ],
    [{ type: 'string', maxLength: 1, 'x-expected': 'a letter' }, '12', 'a letter'],
  ])('%j', async (schema, value, expected) => {
    const api = await serveApi({ document: await contractWith(schema) });
    const { key } = await anAccount(api.db);
    for (const query of [`since=${value}`, 'since=a&since=b']) {
      const { status, body } = await api.send(`${ALERTS}?${query}`, { key });
      const message = `"since" must be ${expected}, given once.`;
      expect([status, body.error]).toEqual([422, { code: 'validation_error', message }]);
    }
  });

  test('a required parameter that is missing is named too', async () => {
    const { validate } = await openContract(
      await contractWith({ type: 'string' }, { required: true }),
    );
    const ask = (url: string) => () => validate({ method: 'GET', url } as never);
    expect(ask(ALERTS)).toThrow('"since" must be text, given once.');
    expect(ask(`${ALERTS}?since=x`)).not.toThrow();
  });
});

test('a contract with a parameter of a type that nothing reads is not served', async () => {
  const document = await contractWith({ type: 'boolean' });
  await expect(openContract(document)).rejects.toThrow(
    'The contract\'s parameter "since" is no integer or string.',
  );
});
