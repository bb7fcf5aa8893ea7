import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { insertApiKey, listApiKeys } from '../../src/store/accounts/api-keys.ts';
import { type Api, startApi } from '../support/api.ts';
import { aBareAccount, aKey, NOW } from '../support/builders.ts';
import { aSignedIn, KEYS, toReadable } from '../support/visitor.ts';

const PATH = '/v1/external/domains';
const REFUSED = { error: { code: 'unauthorized', message: 'Missing or invalid API key.' } };

let api: Api;
let accountId: string;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(new Date(NOW));
  api = await startApi();
  accountId = await aBareAccount(api.db);
});
afterAll(async () => {
  await api.close();
  vi.useRealTimers();
});

const at = (time: string) => vi.setSystemTime(new Date(time));

test('a key is accepted in the last second before it expires, and refused from then on like any other', async () => {
  const expiresAt = '2026-03-20T00:00:00Z';
  const { key } = await insertApiKey(api.db, { accountId, name: 'x', now: NOW, expiresAt });
  at('2026-03-19T23:59:59.999Z');
  const before = await api.get(PATH, { key });
  expect(before.status).toBe(200);
  at('2026-03-20T00:00:00.000Z');
  // A page that is unchanged is not sent again, and a key that has expired gets neither.
  const headers = { 'If-None-Match': before.headers['etag'] as string };
  const after = await api.get(PATH, { key, headers });
  expect([after.status, after.body]).toEqual([401, REFUSED]);
});

test('the form refuses days and a last day together', async () => {
  at(NOW);
  const { browser } = await aSignedIn(api, accountId);
  const both = { name: 'both', expires: '30', last_day: '2026-03-19' };
  const { text, status } = await browser.post(KEYS, both);
  expect(status).toBe(422);
  expect(toReadable(text)).toContain('Choose a number of days or a last day, not both.');
});

test('the form offers a number of days and a day, which is the last one', async () => {
  at(NOW);
  const { browser } = await aSignedIn(api, accountId);
  for (const fields of [
    { name: 'never', expires: 'none' },
    { name: 'in 30 days', expires: '30' },
    { name: 'a day', expires: 'day', last_day: '2026-03-19' },
    { name: 'today', expires: 'day', last_day: '2026-03-15' },
    { name: 'only a day', expires: 'none', last_day: '2026-03-19' },
  ])
    expect((await browser.post(KEYS, fields)).status).toBe(200);
  const ends = (await listApiKeys(api.db, accountId)).map(({ name, expiresAt }) => [
    name,
    expiresAt,
  ]);
  expect(ends).toEqual(
    expect.arrayContaining([
      ['never', null],
      ['in 30 days', '2026-04-14T04:12:09Z'],
      ['a day', '2026-03-20T00:00:00Z'],
      ['today', '2026-03-16T00:00:00Z'],
      ['only a day', '2026-03-20T00:00:00Z'],
    ]),
  );
  at('2026-03-18T00:00:00Z');
  const { text } = await browser.get(KEYS);
  expect(toReadable(text)).toMatch(/a day .* expires in 2 days/);
  expect(toReadable(text)).toMatch(/today .* expired 2 days ago/);
});

test.each(['2026-03-14', '2026-02-31', '2036-03-14', '', 'tomorrow'])(
  'a last day of “%s” is refused, and the form keeps what was entered',
  async (last_day) => {
    at(NOW);
    const { browser } = await aSignedIn(api, accountId);
    const { status, text } = await browser.post(KEYS, { name: 'kept', expires: 'day', last_day });
    expect(status).toBe(422);
    expect(toReadable(text)).toContain('expires never, or within the next ten years');
    expect(text).toContain('value="kept"');
  },
);

test('expired keys count for the limit of ten until they are deleted', async () => {
  at(NOW);
  const account = await aBareAccount(api.db);
  const expiresAt = '2026-03-15T04:12:10Z';
  for (let i = 0; i < 10; i++)
    await insertApiKey(api.db, { accountId: account, name: `${i}`, now: NOW, expiresAt });
  at('2026-04-01T00:00:00Z');
  await expect(aKey(api.db, account)).rejects.toMatchObject({ code: 'limit_reached' });
});
