import { expect, test } from 'vitest';
import { type Answer, type Api, serveApi } from '../support/api.ts';
import { aDomain, anAccount, anAlert } from '../support/builders.ts';

/* What filters are asked for. What they let through is in declared-lists.test.ts. */

const NOBODYS = 'f0000000-0000-4000-8000-00000000000f';

async function aWorld(api: Api) {
  const { id: accountId, key } = await anAccount(api.db);
  const { id: domainId } = await aDomain(api.db, accountId, { name: 'a.example' });
  return {
    domainId,
    get: (path: string): Promise<Answer> => api.get(path, { key }),
    fire: (firedAt: string) => anAlert(api.db, { accountId, domainId }, { firedAt }),
  };
}

test('a cursor of another filter is a 422', async () => {
  const world = await aWorld(await serveApi());
  const path = `/v1/external/domains/${world.domainId}/reports?`;
  for (const [list, after, filter, other] of [
    [path, 'received_after', 'from=2026-03-10', 'from=2026-03-11'],
    [path, 'received_after', 'reporter=x', ''],
    ['/v1/external/alerts?', 'changed_after', 'state=open', 'state=resolved'],
    ['/v1/external/alerts?', 'changed_after', '', 'fired_until=2026-03-11T00:00:00Z'],
  ] as const) {
    const { headers } = await world.get(`${list}${filter}`);
    const follow = (query: string) =>
      world.get(`${list}${query}&${after}=${headers['plumbline-cursor']}`);
    expect((await follow(filter)).status).toBe(200);
    const { status, body } = await follow(other);
    expect([status, body.error.message]).toEqual([422, expect.stringContaining(`"${after}"`)]);
  }
});

test.each<readonly [path: string, name: string, wanted: string]>([
  ['/v1/external/alerts?state=closed', 'state', 'one of open, resolved'],
  ['/v1/external/alerts?state=', 'state', 'one of open, resolved'],
  ['/v1/external/alerts?fired_from=2026-03-14', 'fired_from', 'a timestamp'],
  ['/v1/external/alerts?fired_from=2026-02-30T00:00:00Z', 'fired_from', 'a timestamp'],
  ['/v1/external/alerts?fired_until=2026-03-14T00:00:00', 'fired_until', 'a timestamp'],
  ['/v1/external/alerts?fired_until=x&fired_until=y', 'fired_until', 'a timestamp'],
  // The format that Ajv knows allows it; it was a 500.
  ['/v1/external/alerts?fired_from=2026-03-14T00:00:00%2B05', 'fired_from', 'a timestamp'],
  ['/v1/external/alerts?fired_until=2026-03-14T23:59:60-05', 'fired_until', 'a timestamp'],
  ['/v1/external/reports?from=2026-3-1', 'from', 'a day'],
  ['/v1/external/reports?until=2026-02-30', 'until', 'a day'],
  ['/v1/external/reports?reporter=', 'reporter', 'a name'],
  ['/v1/external/reports?domain_id=1', 'domain_id', 'a UUID'],
  ['/v1/external/domains?name=', 'name', 'a domain name'],
  ['/v1/external/domains?name=*', 'name', 'a domain name'],
  ['/v1/external/domains?name=*example.com', 'name', 'a domain name'],
  ['/v1/external/domains?name=a.*.com', 'name', 'a domain name'],
  ['/v1/external/domains?status=resolved', 'status', 'one of active, paused, all'],
  ['/v1/external/domains/ID/sources?failing=yes', 'failing', 'one of true'],
  ['/v1/external/domains/ID/sources?verdict=good', 'verdict', 'one of yours, needs_setup, '],
  ['/v1/external/domains/ID/sources?service=', 'service', 'a name'],
  ...[
    // It was as if nobody had asked for an address.
    '',
    'x',
    '192.0.2.0/33',
    '192.0.2.0/',
    '2001:db8::/129',
    '192.0.2',
    '192.0.2.0/24/1',
    'fe80::1%25a',
  ].map(
    (address) =>
      [`/v1/external/domains/ID/sources?address=${address}`, 'address', 'an IP address'] as const,
  ),
])('%s is a 422 that names %s and says what is allowed', async (path, name, wanted) => {
  const world = await aWorld(await serveApi());
  const { status, body } = await world.get(path.replace('ID', world.domainId));
  expect([status, body.error.code]).toEqual([422, 'validation_error']);
  expect(body.error.message).toContain(`"${name}" must be ${wanted}`);
});

test('a domain of another account is a 404 in the reports of the account, as one that nobody has', async () => {
  const api = await serveApi();
  const [world, other] = [await aWorld(api), await anAccount(api.db)];
  const { id } = await aDomain(api.db, other.id);
  const answers = [id, NOBODYS].map((one) => world.get(`/v1/external/reports?domain_id=${one}`));
  const [foreign, unknown] = await Promise.all(answers);
  expect([foreign?.status, foreign?.text]).toEqual([404, unknown?.text]);
});

test.each([
  ['2026-03-11T13:30:00%2B01:00', ['2026-03-11T12:30:00Z', '2026-03-12T00:00:00Z']],
  ['2026-03-11T12:30:00.001Z', ['2026-03-12T00:00:00Z']],
  ['2026-03-11T12:29:59.999z', ['2026-03-11T12:30:00Z', '2026-03-12T00:00:00Z']],
  ['0000-01-01T00:00:00Z', ['2026-03-11T12:30:00Z', '2026-03-12T00:00:00Z']],
  ['9999-12-31T23:59:59.9Z', []],
  ['2016-12-31T23:59:60Z', ['2026-03-11T12:30:00Z', '2026-03-12T00:00:00Z']],
])(
  'fired_from=%s has the alerts that fired then or later, fired_until the others',
  async (at, from) => {
    const world = await aWorld(await serveApi());
    const all = ['2026-03-11T12:30:00Z', '2026-03-12T00:00:00Z'];
    for (const firedAt of all) await world.fire(firedAt);
    const read = async (name: string) => {
      const { body } = await world.get(`/v1/external/alerts?${name}=${at}`);
      return body.data.map(({ fired_at }: { fired_at: string }) => fired_at).sort();
    };
    expect(await read('fired_from')).toEqual(from);
    expect(await read('fired_until')).toEqual(all.filter((one) => !from.includes(one)));
  },
);
