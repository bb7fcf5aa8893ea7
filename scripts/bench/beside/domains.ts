import { toInstant } from '../../../src/domain/instant.ts';
import { insertAccount } from '../../../src/store/accounts/accounts.ts';
import { insertApiKey } from '../../../src/store/accounts/api-keys.ts';
import { insertDomain } from '../../../src/store/domains/domains.ts';
import { openStore } from '../../../src/store/engine/open.ts';
import type { Polled } from './poll.ts';

/** A domain that all reports are about, and one whose list does not change. */
export async function makeDomains(database: string) {
  const store = await openStore(database);
  const now = toInstant(new Date());
  const account = { name: 'Beside', plan: 'pro', now, allowDuplicate: true } as const;
  const { id: accountId } = await insertAccount(store.db, account);
  const { key } = await insertApiKey(store.db, { accountId, name: 'bench', now });
  const domainIds: string[] = [];
  for (const name of ['example.com', 'example.net'])
    domainIds.push((await insertDomain(store.db, { accountId, name, now })).id);
  await store.close();
  return { key, domainIds };
}

/** A page of the list that grows, and a 304 of the one that does not. */
export async function toRequests(
  server: string,
  key: string,
  domainIds: readonly string[],
): Promise<Polled[]> {
  const headers = { authorization: `Bearer ${key}` };
  const [page = '', known = ''] = domainIds.map(
    (id) => `${server}/v1/external/domains/${id}/reports`,
  );
  const answer = await fetch(known, { headers });
  await answer.arrayBuffer();
  const etag = answer.headers.get('etag') ?? '';
  return [
    { url: page, headers, status: 200 },
    { url: known, headers: { ...headers, 'if-none-match': etag }, status: 304 },
  ];
}
