import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { addDays } from '../../src/domain/instant.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeReport } from '../../src/store/reports/corrections.ts';
import { serveApi, walk } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  aRecord,
  aReportOf,
  NOW,
  receive,
  UNKNOWN_ID,
} from '../support/builders.ts';

/** Of the tests' clock. */
const TODAY = '2026-03-15';
const NOBODY = { authenticated: '', claimed: ['stranger.example'] };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(new Date(NOW));
  onTestFinished(() => void vi.useRealTimers());
});

async function serveDomains(names: readonly string[]) {
  const { db, get } = await serveApi();
  const { key, id: accountId } = await anAccount(db);
  const domains = [];
  for (const name of names) domains.push(await aDomain(db, accountId, { name }));
  const [domain] = domains as [(typeof domains)[number]];
  const read = (path: string, headers = {}) => get(`/v1/external/${path}`, { key, headers });
  const send = (day: string, records: readonly ReturnType<typeof aRecord>[], sender = {}) => {
    const report = aReportOf(records, { domain: domain.name, begin: `${day}T00:00:00Z` });
    return receive(db, [report], NOW, sender).then(() => report);
  };
  const path = `domains/${domain.id}/days`;
  return { db, get, key, domains, domain, path, read, send };
}

const EMPTY = {
  ...{ reports: 0, total_messages: 0, aligned_messages: 0 },
  ...{ dkim_aligned_messages: 0, spf_aligned_messages: 0 },
  dispositions: { none: 0, quarantine: 0, reject: 0, other: 0 },
  ...{ set_aside_reports: 0, set_aside_messages: 0 },
};

describe('GET /v1/external/domains/{domain_id}/days', () => {
  test('has a row for each of the last thirty days, newest first, with what its reports count', async () => {
    const { domain, path, read, send } = await serveDomains(['a.example']);
    await send('2026-03-05', [
      aRecord({ count: 4, dkim: 'pass', disposition: 'none' }),
      aRecord({ count: 3, spf: 'pass', disposition: 'quarantine' }),
      aRecord({ count: 2, disposition: 'reject' }),
      aRecord({ count: 1, disposition: null }),
    ]);
    await send('2026-03-05', [aRecord({ count: 10, dkim: 'pass', spf: 'pass' })]);
    await send('2026-03-05', [aRecord({ count: 1_000_000 })], NOBODY);
    const { body } = await read(path);
    expect(body.total).toBe(30);
    expect(body.data.map(({ day }: { day: string }) => day)).toEqual(
      Array.from({ length: 30 }, (_, i) => addDays(TODAY, -i)),
    );
    const known = { domain_id: domain.id, reporters: 'established' };
    expect(body.data[0]).toStrictEqual({ ...known, day: TODAY, may_change: true, ...EMPTY });
    expect(body.data[10]).toStrictEqual({
      ...{ ...known, day: '2026-03-05', may_change: false, reports: 2 },
      ...{ total_messages: 20, aligned_messages: 17 },
      ...{ dkim_aligned_messages: 14, spf_aligned_messages: 13 },
      dispositions: { none: 14, quarantine: 3, reject: 2, other: 1 },
      ...{ set_aside_reports: 1, set_aside_messages: 1_000_000 },
    });
  });

  test('counts all reporters where none is established', async () => {
    const { path, read, send } = await serveDomains(['a.example']);
    await send('2026-03-05', [aRecord({ count: 7 })], NOBODY);
    const { body } = await read(path);
    expect(body.data[10]).toMatchObject({ reporters: 'all', reports: 1, total_messages: 7 });
  });

  test('counts a report no more that was removed', async () => {
    const { db, path, read, send } = await serveDomains(['a.example']);
    await send('2026-03-05', [aRecord({ count: 7, disposition: 'reject' })]);
    const report = await send('2026-03-05', [aRecord({ count: 2, disposition: 'quarantine' })]);
    await removeReport(db, toReportId(report), NOW);
    const { body } = await read(path);
    expect(body.data[10]).toMatchObject({
      ...{ reports: 1, total_messages: 7 },
      dispositions: { none: 0, quarantine: 0, reject: 7, other: 0 },
    });
  });

  test('is read while the domain is paused, for a year at most', async () => {
    const { db, domain, path, read, send } = await serveDomains(['a.example']);
    await send('2025-06-01', [aRecord({ count: 7 })]);
    await updateDomainStatus(db, domain.id, 'paused');
    const year = await read(`${path}?from=2025-03-15&until=${TODAY}&limit=200&offset=200`);
    expect([year.body.total, year.body.data.length]).toEqual([366, 166]);
    expect(year.body.data.find(({ day }: { day: string }) => day === '2025-06-01').reports).toBe(1);
    const { status, body } = await read(`${path}?from=2025-03-14&until=${TODAY}`);
    expect([status, body.error.code]).toEqual([422, 'validation_error']);
  });

  test('has an entity tag that changes with a report of the domain, and each day', async () => {
    const { db, path, read, send } = await serveDomains(['a.example']);
    const changes = [
      () => send('2026-03-05', [aRecord({ count: 7 })]),
      () => vi.setSystemTime(new Date('2026-03-16T00:00:00Z')),
    ];
    for (const change of changes) {
      const again = { 'If-None-Match': (await read(path)).headers['etag'] ?? '' };
      await receive(db, [aReportOf([aRecord({ count: 1 })], { domain: 'other.example' })]);
      expect((await read(path, again)).status).toBe(304);
      await change();
      expect((await read(path, again)).status).toBe(200);
    }
  });

  test('of nobody and of another account is the same 404', async () => {
    const { db, get, path } = await serveDomains(['a.example']);
    const { key } = await anAccount(db);
    const error = { code: 'not_found', message: 'No such domain.' };
    for (const wrong of [path, `domains/${UNKNOWN_ID}/days`]) {
      const { status, body } = await get(`/v1/external/${wrong}`, { key });
      expect([status, body]).toEqual([404, { error }]);
    }
  });
});

describe('GET /v1/external/days', () => {
  test('has an entity tag that changes with a report of any domain', async () => {
    const { read, send } = await serveDomains(['a.example', 'b.example']);
    const again = { 'If-None-Match': (await read('days')).headers['etag'] ?? '' };
    expect((await read('days', again)).status).toBe(304);
    await send('2026-03-05', [aRecord({ count: 7 })]);
    expect((await read('days', again)).status).toBe(200);
  });

  test.each([1, 2, 3, 4, 7, 1_000])(
    'a walk by %i meets each active domain on each day, newest day first, then by name',
    async (limit) => {
      const { db, get, key, domains, send } = await serveDomains([
        'b.example',
        'a.example',
        'c.example',
        'paused.example',
      ]);
      const [b, a, c, paused] = domains.map(({ id }) => id);
      await updateDomainStatus(db, paused as string, 'paused');
      await aDomain(db, (await anAccount(db)).id, { name: 'aa.example' });
      await send('2026-03-14', [aRecord({ count: 7 })]);
      const ask = (path: string) => get(path, { key });
      const path = `/v1/external/days?from=2026-03-12&until=${TODAY}`;
      const { items, totals } = await walk(ask, path, limit);
      const found = items as { domain_id: string; day: string; total_messages: number }[];
      const days = [0, 1, 2, 3].map((i) => addDays(TODAY, -i));
      expect(found.map(({ domain_id, day }) => [day, domain_id])).toEqual(
        days.flatMap((day) => [a, b, c].map((id) => [day, id])),
      );
      expect([...totals]).toEqual([12]);
      const counted = found.filter(({ total_messages }) => total_messages > 0);
      expect(counted).toMatchObject([{ domain_id: b, day: '2026-03-14', total_messages: 7 }]);
    },
  );

  test('of an account without a domain is empty', async () => {
    const { db, get } = await serveApi();
    const { key } = await anAccount(db);
    expect((await get('/v1/external/days', { key })).body).toEqual({ data: [], total: 0 });
    const answer = await get('/v1/external/days?offset=99999999999999999999', { key });
    expect(answer.body).toEqual({ data: [], total: 0 });
  });
});
