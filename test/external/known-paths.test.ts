import { expect, test } from 'vitest';
import { serveApi } from '../support/api.ts';
import { aDomain, anAccount } from '../support/builders.ts';

/* The operation of a path that was valid once is remembered. What it answers depends on the caller, the method and the query. */

async function serveTwoAccounts() {
  const api = await serveApi();
  const [mine, theirs] = [await anAccount(api.db), await anAccount(api.db)];
  const { id } = await aDomain(api.db, mine.id);
  const path = `/v1/external/domains/${id}/reports?limit=1`;
  const ask = async (key: string | undefined, method = 'GET', target = path) =>
    (await api.get(target, { key, method })).status;
  return { mine, theirs, path, ask };
}

test('a path that was valid for one account is not found for another', async () => {
  const { mine, theirs, ask } = await serveTwoAccounts();
  const keys = [mine.key, theirs.key, mine.key, theirs.key, undefined];
  const statuses: number[] = [];
  for (const key of keys) statuses.push(await ask(key));
  expect(statuses).toEqual([200, 404, 200, 404, 401]);
});

test('a path that was valid for GET has no other method than before', async () => {
  const { mine, ask } = await serveTwoAccounts();
  const statuses: number[] = [];
  for (const method of ['GET', 'POST', 'HEAD', 'DELETE', 'GET'])
    statuses.push(await ask(mine.key, method));
  expect(statuses).toEqual([200, 405, 200, 405, 200]);
});

test('a query that is not valid is refused each time', async () => {
  const { mine, path, ask } = await serveTwoAccounts();
  const statuses: number[] = [];
  for (const query of ['', '&limit=1', '', '&limit=1'])
    statuses.push(await ask(mine.key, 'GET', path + query));
  expect(statuses).toEqual([200, 422, 200, 422]);
});
