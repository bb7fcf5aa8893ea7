import { describe, expect, test } from 'vitest';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { serveApi, walk } from '../support/api.ts';
import { aDomain, anAccount, aReport, NOW, receive } from '../support/builders.ts';

const PATH = '/v1/external/domains';

describe('GET /v1/external/domains', () => {
  describe('200', () => {
    test('returns the list envelope; domains have the four fields of 2.1', async () => {
      const { db, get } = await serveApi();
      const { id: accountId, key } = await anAccount(db);
      const heard = await aDomain(db, accountId, { name: 'example.com' });
      const silent = await aDomain(db, accountId, { name: 'shop.example' });
      await receive(db, [aReport({ domain: 'example.com' })], '2026-03-15T04:12:09Z');
      const { status, body } = await get(PATH, { key });
      expect(status).toBe(200);
      expect(body).toStrictEqual({
        data: [
          {
            id: heard.id,
            domain: 'example.com',
            status: 'active',
            last_report_at: '2026-03-15T04:12:09Z',
          },
          { id: silent.id, domain: 'shop.example', status: 'active', last_report_at: null },
        ],
        total: 2,
      });
    });

    test('an account without domains gets an empty list', async () => {
      const { db, get } = await serveApi();
      const { key } = await anAccount(db);
      expect((await get(PATH, { key })).body).toEqual({ data: [], total: 0 });
    });

    test('lists nothing of another account', async () => {
      const { db, get } = await serveApi();
      const [mine, theirs] = [await anAccount(db), await anAccount(db)];
      await aDomain(db, mine.id, { name: 'mine.example' });
      await aDomain(db, theirs.id, { name: 'theirs.example' });
      const { body } = await get(PATH, { key: mine.key });
      expect(body.total).toBe(1);
      expect(body.data.map((d: { domain: string }) => d.domain)).toEqual(['mine.example']);
    });

    test('lists only active domains; a resumed one is back', async () => {
      const { db, get } = await serveApi();
      const { id, key } = await anAccount(db);
      await aDomain(db, id, { name: 'a.example' });
      const paused = await aDomain(db, id, { name: 'b.example', status: 'paused' });
      const names = async () => {
        const { body } = await get(PATH, { key });
        expect(body.total).toBe(body.data.length);
        return body.data.map((d: { domain: string }) => d.domain);
      };
      expect(await names()).toEqual(['a.example']);
      await updateDomainStatus(db, paused.id, 'active');
      expect(await names()).toEqual(['a.example', 'b.example']);
    });

    test('last_report_at is when the newest report was received, not what it covers', async () => {
      const { db, get } = await serveApi();
      const { id, key } = await anAccount(db);
      const { name } = await aDomain(db, id);
      const lastReportAt = async () => (await get(PATH, { key })).body.data[0].last_report_at;
      await receive(
        db,
        [aReport({ domain: name, begin: '2026-03-14T00:00:00Z' })],
        '2026-03-15T00:00:00Z',
      );
      await receive(
        db,
        [aReport({ domain: name, begin: '2025-01-01T00:00:00Z' })],
        '2026-03-16T00:00:00Z',
      );
      expect(await lastReportAt()).toBe('2026-03-16T00:00:00Z');
      await receive(db, [aReport({ domain: name })], '2026-03-15T12:00:00Z');
      expect(await lastReportAt()).toBe('2026-03-16T00:00:00Z');
    });

    test('is ordered by name, byte by byte, and paged without a gap', async () => {
      const { db, get } = await serveApi();
      const { id, key } = await anAccount(db);
      const names = ['10.example', '2.example', 'a-b.example', 'a.b.example', 'a.example'];
      for (let i = 0; i < 25; i++) names.push(`n${(i * 7) % 25}.example`);
      for (const name of names) await aDomain(db, id, { name });
      const { items, totals } = await walk((path) => get(path, { key }), PATH, 7);
      expect(items.map((d) => (d as { domain: string }).domain)).toEqual(names.toSorted());
      expect([...totals]).toEqual([30]);
    });

    test('skipped all items before a page: pages that begin by a name are those that skip, also after a change', async () => {
      const { db, get } = await serveApi();
      const { key, id } = await anAccount(db);
      for (let i = 0; i < 450; i += 1) await aDomain(db, id, { name: `d${1000 + i}.example` });
      const namesAt = async (offset: number, limit: number) =>
        (await get(`${PATH}?offset=${offset}&limit=${limit}`, { key })).body.data.map(
          ({ domain }: { domain: string }) => domain,
        );
      const walk = async () => {
        const names: string[] = [];
        for (const offset of [0, 200, 400]) names.push(...(await namesAt(offset, 200)));
        for (const offset of [449, 390, 350, 200, 199, 401, 430, 449, 0, 251])
          expect(await namesAt(offset, 7)).toEqual(names.slice(offset, offset + 7));
        return names;
      };
      const names = await walk();
      expect(names).toEqual(names.toSorted());
      expect(new Set(names).size).toBe(450);
      await aDomain(db, id, { name: 'a.example' });
      expect((await walk())[0]).toBe('a.example');
    });

    test('without parameters: the first 50; at most 200', async () => {
      const { db, get } = await serveApi();
      const { id, key } = await anAccount(db);
      for (let i = 0; i < 201; i++) await aDomain(db, id);
      const counts = async (query: string) => {
        const { body } = await get(`${PATH}${query}`, { key });
        return [body.data.length, body.total];
      };
      expect(await counts('')).toEqual([50, 201]);
      expect(await counts('?limit=1')).toEqual([1, 201]);
      expect(await counts('?limit=200')).toEqual([200, 201]);
      expect(await counts('?limit=200&offset=200')).toEqual([1, 201]);
      expect(await counts('?limit=200&offset=201')).toEqual([0, 201]);
    });
  });

  describe('304', () => {
    test.each<[string, boolean, (world: World) => Promise<unknown>]>([
      ['a domain is added', true, ({ db, id }) => aDomain(db, id)],
      ['a domain is paused', true, ({ db, domain }) => updateDomainStatus(db, domain.id, 'paused')],
      [
        'a report comes for one of the domains',
        true,
        ({ db, domain }) => receive(db, [aReport({ domain: domain.name })], '2026-03-16T00:00:00Z'),
      ],
      [
        'the same report comes again',
        false,
        ({ db, known }) => receive(db, [known], '2026-03-17T00:00:00Z'),
      ],
      [
        'a second report comes within the same second',
        false,
        ({ db, domain }) => receive(db, [aReport({ domain: domain.name })], NOW),
      ],
      [
        'a report comes for a paused domain',
        false,
        ({ db, paused }) => receive(db, [aReport({ domain: paused.name })], '2026-03-16T00:00:00Z'),
      ],
      [
        'a report comes for a domain of another account',
        false,
        ({ db, foreign }) =>
          receive(db, [aReport({ domain: foreign.name })], '2026-03-16T00:00:00Z'),
      ],
      [
        'a report comes for a domain that nobody has registered',
        false,
        ({ db }) => receive(db, [aReport({ domain: 'nobody.example' })], '2026-03-16T00:00:00Z'),
      ],
      [
        'an active domain is set to active again',
        false,
        ({ db, domain }) => updateDomainStatus(db, domain.id, 'active'),
      ],
      ['another account adds a domain', false, ({ db, theirs }) => aDomain(db, theirs.id)],
    ])('when %s, the ETag changes: %s', async (_what, changes, act) => {
      const { db, get } = await serveApi();
      const { id, key } = await anAccount(db);
      const theirs = await anAccount(db);
      const domain = await aDomain(db, id);
      const paused = await aDomain(db, id, { status: 'paused' });
      const foreign = await aDomain(db, theirs.id);
      const known = aReport({ domain: domain.name });
      await receive(db, [known], NOW);
      const before = await get(PATH, { key });
      await act({ db, id, domain, paused, foreign, theirs, known });
      const headers = { 'If-None-Match': before.headers['etag'] as string };
      const after = await get(PATH, { key, headers });
      expect(after.status).toBe(changes ? 200 : 304);
      expect((await get(PATH, { key })).text === before.text).toBe(!changes);
    });
  });
});

interface World {
  readonly db: Awaited<ReturnType<typeof serveApi>>['db'];
  readonly id: string;
  readonly theirs: { readonly id: string };
  readonly domain: { readonly id: string; readonly name: string };
  readonly paused: { readonly name: string };
  readonly foreign: { readonly name: string };
  readonly known: ReturnType<typeof aReport>;
}
