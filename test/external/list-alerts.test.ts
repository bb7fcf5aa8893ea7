import { beforeAll, describe, expect, test } from 'vitest';
import { RULES } from '../../src/domain/alerts/registry.ts';
import { settleAlert } from '../../src/store/alerts/alerts.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import { type Answer, type Api, serveApi, startApi, walk } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aReport,
  receive,
  resolveAlert,
} from '../support/builders.ts';

const PATH = '/v1/external/alerts';
const NOBODYS = 'f0000000-0000-4000-8000-00000000000f';
const WEAKENED = {
  type: 'alert.policy_weakened',
  context: {
    previous_policy: 'reject',
    current_policy: 'none',
    record_name: '_dmarc.example.com',
  },
};
const OF_WEAKENED = `?type=${WEAKENED.type}`;
const ids = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);

/** An account with two domains, and a function that reads its alerts. */
async function serveAlerts(api?: Api) {
  api ??= await serveApi();
  const account = await anAccount(api.db);
  const domain = await aDomain(api.db, account.id);
  const other = await aDomain(api.db, account.id);
  const owner = { accountId: account.id, domainId: domain.id };
  const otherOwner = { accountId: account.id, domainId: other.id };
  const read = (query = '', headers: Record<string, string> = {}) =>
    api.get(`${PATH}${query}`, { key: account.key, headers });
  return { ...api, account, domain, other, owner, otherOwner, read };
}

describe('GET /v1/external/alerts', () => {
  describe('200', () => {
    test('returns the list envelope; alerts have the six fields of 2.3', async () => {
      const { db, owner, read } = await serveAlerts();
      const context = { drop_pct: 31.4, prev_pass_rate: 98.74, curr_pass_rate: 67.34 };
      const id = await anAlert(db, owner, { firedAt: '2026-03-15T04:12:10Z', context });
      expect((await read()).body).toStrictEqual({
        data: [
          {
            id,
            domain_id: owner.domainId,
            type: 'alert.alignment_regression',
            fired_at: '2026-03-15T04:12:10Z',
            resolved_at: null,
            context,
          },
        ],
        total: 1,
      });
    });

    test('active: resolved_at is null; resolved: it is the time; and an alert is resolved only once', async () => {
      const { db, owner, read } = await serveAlerts();
      const id = await anAlert(db, owner);
      const resolvedAt = async () => (await read()).body.data[0].resolved_at;
      expect(await resolvedAt()).toBeNull();
      await resolveAlert(db, id, '2026-03-16T00:00:00Z');
      await resolveAlert(db, id, '2026-03-17T00:00:00Z');
      expect(await resolvedAt()).toBe('2026-03-16T00:00:00Z');
    });

    test('types that the contract does not name are served, whatever their context', async () => {
      const { db, owner, read } = await serveAlerts();
      const context = { sources: [{ ip: '192.0.2.1', message_count: 5 }], none: null, ok: true };
      await anAlert(db, owner, { type: 'alert.of_tomorrow', context });
      await anAlert(db, owner, { type: 'alert.bare', context: {} });
      const [bare, tomorrow] = (await read()).body.data;
      expect([tomorrow.type, tomorrow.context]).toEqual(['alert.of_tomorrow', context]);
      expect(bare.context).toEqual({});
    });

    test('a context that does not match its type would fail these tests', async () => {
      const { db, owner, read } = await serveAlerts();
      await anAlert(db, owner, { type: 'alert.reports_missing', context: { drop_pct: 31.4 } });
      await expect(read()).rejects.toThrow('x-schema-by-type');
    });

    test('newest first: by fired_at, and among equals by creation', async () => {
      const { db, owner, otherOwner, read } = await serveAlerts();
      const a = await anAlert(db, owner, { firedAt: '2026-03-15T00:00:00Z' });
      const b = await anAlert(db, otherOwner, { firedAt: '2026-03-15T00:00:00Z' });
      const c = await anAlert(db, owner, { firedAt: '2026-03-16T00:00:00Z' });
      const d = await anAlert(db, owner, { firedAt: '2026-03-14T23:59:59Z' });
      expect(ids(await read())).toEqual([c, b, a, d]);
    });

    test('in pages of seven, 100 alerts with ties come once each and in order', async () => {
      const { db, owner, otherOwner, read } = await serveAlerts();
      const days = ['2026-02-28', '2026-03-01', '2026-03-31', '2026-04-01', '2025-12-31'];
      const fired: { id: string; firedAt: string; i: number; mine: boolean }[] = [];
      for (let i = 0; i < 100; i++) {
        const firedAt = `${days[(i * 3) % 5]}T12:00:00Z`;
        const mine = i % 3 !== 0;
        fired.push({
          id: await anAlert(db, mine ? owner : otherOwner, { firedAt }),
          firedAt,
          i,
          mine,
        });
      }
      fired.sort((a, b) => b.firedAt.localeCompare(a.firedAt) || b.i - a.i);
      const walked = async (query: string) => {
        const { items, totals } = await walk((path) => read(path), query, 7);
        expect([...totals]).toEqual([items.length]);
        return items.map((alert) => (alert as { id: string }).id);
      };
      expect(await walked('')).toEqual(fired.map(({ id }) => id));
      expect(await walked(`?domain_id=${owner.domainId}`)).toEqual(
        fired.filter(({ mine }) => mine).map(({ id }) => id),
      );
    });

    test('every offset is the same slice of the whole list, also at borders of months and days', async () => {
      const { db, owner, read } = await serveAlerts();
      const days = ['2025-12-31', '2026-01-01', '2026-01-31', '2026-02-01'];
      const times = ['00:00:00', '00:00:00', '23:59:59'];
      const instants = days.flatMap((day) => times.map((time) => `${day}T${time}Z`));
      for (const firedAt of instants) await anAlert(db, owner, { firedAt });
      const whole = ids(await read('?limit=200'));
      for (let offset = 0; offset <= 13; offset++) {
        for (const limit of [1, 5]) {
          const page = await read(`?limit=${limit}&offset=${offset}`);
          expect(ids(page), `limit ${limit}, offset ${offset}`).toEqual(
            whole.slice(offset, offset + limit),
          );
        }
      }
    });

    test('with domain_id: the alerts of that domain, and total counts only them', async () => {
      const { db, owner, otherOwner, read } = await serveAlerts();
      const mine = await anAlert(db, owner);
      const others = [await anAlert(db, otherOwner), await anAlert(db, otherOwner)];
      const one = await read(`?domain_id=${owner.domainId}`);
      const two = await read(`?domain_id=${otherOwner.domainId.toUpperCase()}`);
      expect([ids(one), one.body.total]).toEqual([[mine], 1]);
      expect([ids(two), two.body.total]).toEqual([others.toReversed(), 2]);
    });

    test('with type: the alerts of that type, and total counts only them, also of a domain', async () => {
      const { db, owner, otherOwner, read } = await serveAlerts();
      const drop = await anAlert(db, owner);
      const weak = await anAlert(db, owner, WEAKENED);
      const others = await anAlert(db, otherOwner, WEAKENED);
      const own = `&domain_id=${owner.domainId}`;
      for (const [query, wanted] of [
        [OF_WEAKENED, [others, weak]],
        [OF_WEAKENED + own, [weak]],
        ['?type=alert.alignment_regression', [drop]],
        ['?type=alert.reports_missing', []],
      ] as const) {
        const answer = await read(query);
        expect([ids(answer), answer.body.total], query).toEqual([wanted, wanted.length]);
      }
    });

    test('with type, every offset is the same slice of the whole list', async () => {
      const { db, owner, otherOwner, read } = await serveAlerts();
      for (let i = 0; i < 10; i++) {
        const firedAt = `2026-03-${10 + (i % 7)}T00:00:00Z`;
        await anAlert(db, owner, { ...WEAKENED, firedAt });
        await anAlert(db, owner, { firedAt });
        await anAlert(db, otherOwner, { ...WEAKENED, firedAt });
      }
      for (const query of [OF_WEAKENED, `${OF_WEAKENED}&domain_id=${owner.domainId}`]) {
        // The whole list's days are counted and remembered first.
        await read('?offset=1');
        const whole = ids(await read(`${query}&limit=200`));
        for (let offset = 0; offset <= whole.length + 1; offset++) {
          const { body } = await read(`${query}&limit=4&offset=${offset}`);
          const page = body.data.map(({ id }: { id: string }) => id);
          expect([page, body.total]).toEqual([whole.slice(offset, offset + 4), whole.length]);
        }
      }
    });

    test('a domain without alerts has an empty list', async () => {
      const { db, owner, otherOwner, read } = await serveAlerts();
      await anAlert(db, otherOwner);
      const { body } = await read(`?domain_id=${owner.domainId}`);
      expect(body).toEqual({ data: [], total: 0 });
    });

    test('alerts of a paused domain stay readable', async () => {
      const { db, owner, read } = await serveAlerts();
      await anAlert(db, owner);
      await updateDomainStatus(db, owner.domainId, 'paused');
      expect((await read()).body.total).toBe(1);
      expect((await read(`?domain_id=${owner.domainId}`)).body.total).toBe(1);
    });

    test('shows nothing of another account', async () => {
      const { db, owner, get, read } = await serveAlerts();
      const theirs = await anAccount(db);
      const foreign = await aDomain(db, theirs.id);
      const theirAlert = await anAlert(db, { accountId: theirs.id, domainId: foreign.id });
      const mine = await anAlert(db, owner);
      expect(ids(await read())).toEqual([mine]);
      expect(ids(await get(PATH, { key: theirs.key }))).toEqual([theirAlert]);
    });
  });

  describe('304', () => {
    type World = Awaited<ReturnType<typeof serveAlerts>> & { open: string };
    type Act = (world: World) => Promise<unknown>;
    /** An event, and whether these lists change: the account's, the domain's, the other domain's. */
    test.each<[string, [boolean, boolean, boolean], Act]>([
      ['an alert fires for the domain', [true, true, false], ({ db, owner }) => anAlert(db, owner)],
      [
        'an alert fires for the other domain',
        [true, false, true],
        ({ db, otherOwner }) => anAlert(db, otherOwner),
      ],
      [
        'an alert of the domain resolves',
        [true, true, false],
        ({ db, open }) => resolveAlert(db, open, '2026-03-16T00:00:00Z'),
      ],
      [
        'a resolved alert is resolved again',
        [false, false, false],
        async ({ db, otherOwner }) => {
          const { id } = await db
            .selectFrom('alert')
            .select('id')
            .where('domain_id', '=', otherOwner.domainId)
            .executeTakeFirstOrThrow();
          await resolveAlert(db, id, '2026-03-18T00:00:00Z');
        },
      ],
      [
        'a report comes for the domain',
        [false, false, false],
        ({ db, domain }) => receive(db, [aReport({ domain: domain.name })]),
      ],
      [
        'the domain is paused',
        [false, false, false],
        ({ db, domain }) => updateDomainStatus(db, domain.id, 'paused'),
      ],
      [
        'an alert fires in another account',
        [false, false, false],
        async ({ db }) => {
          const theirs = await anAccount(db);
          const { id: domainId } = await aDomain(db, theirs.id);
          await anAlert(db, { accountId: theirs.id, domainId });
        },
      ],
    ])('when %s, the ETags change: %j', async (_what, wanted, act) => {
      const world = await serveAlerts();
      const { db, owner, otherOwner, read } = world;
      const open = await anAlert(db, owner);
      await anAlert(db, otherOwner, { resolvedAt: '2026-03-15T12:00:00Z' });
      const queries = ['', `?domain_id=${owner.domainId}`, `?domain_id=${otherOwner.domainId}`];
      const before: Answer[] = [];
      for (const query of queries) before.push(await read(query));
      await act({ ...world, open });
      for (const [i, query] of queries.entries()) {
        const after = await read(query, { 'If-None-Match': before[i]?.headers['etag'] as string });
        expect(after.status, query).toBe(wanted[i] ? 200 : 304);
        expect((await read(query)).text === before[i]?.text, query).toBe(!wanted[i]);
      }
    });
  });

  describe('304 with type', () => {
    test('a change of an alert of another type changes nothing; one of the type changes the tag', async () => {
      const { db, owner, read } = await serveAlerts();
      const [drop, weak] = [await anAlert(db, owner), await anAlert(db, owner, WEAKENED)];
      for (const query of [OF_WEAKENED, `${OF_WEAKENED}&domain_id=${owner.domainId}`]) {
        let tag = '';
        const isNew = async (act: () => Promise<unknown>) => {
          await act();
          const { status, headers } = await read(query, { 'If-None-Match': tag });
          tag = headers['etag'] as string;
          expect((await read(query)).headers['etag']).toBe(tag);
          return status === 200;
        };
        const update = (id: string, context: object) =>
          db.write((tx) => settleAlert(tx, id, { context: JSON.stringify(context) }));
        expect(await isNew(async () => {})).toBe(true);
        expect(await isNew(() => anAlert(db, owner))).toBe(false);
        expect(
          await isNew(() => update(drop, { drop_pct: 1, prev_pass_rate: 9, curr_pass_rate: 8 })),
        ).toBe(false);
        const other = { ...WEAKENED.context, previous_policy: 'quarantine' };
        expect(
          await isNew(() => update(weak, query.includes('domain') ? WEAKENED.context : other)),
        ).toBe(true);
        const fired = await anAlert(db, owner, WEAKENED);
        expect(await isNew(async () => {})).toBe(true);
        expect(await isNew(() => resolveAlert(db, fired, '2026-03-16T00:00:00Z'))).toBe(true);
      }
    });

    test('empty lists of other accounts and types have other tags and cursors', async () => {
      const { db, get, read } = await serveAlerts();
      const { key } = await anAccount(db);
      const answers = [
        await read(OF_WEAKENED),
        await read('?type=alert.reports_missing'),
        await get(PATH + OF_WEAKENED, { key }),
      ];
      for (const name of ['etag', 'plumbline-cursor'])
        expect(new Set(answers.map(({ headers }) => headers[name])).size).toBe(3);
    });

    test('after a removal of alerts, a page has a cursor that is good', async () => {
      const { db, owner, otherOwner, read } = await serveAlerts();
      await anAlert(db, owner, WEAKENED);
      await anAlert(db, otherOwner);
      const before = await read(OF_WEAKENED);
      await removeDomain(db, otherOwner.domainId);
      const follow = async ({ headers }: Answer) =>
        await read(`${OF_WEAKENED}&changed_after=${headers['plumbline-cursor']}`);
      expect((await follow(before)).status).toBe(410);
      expect((await follow(await read(OF_WEAKENED))).status).toBe(200);
    });
  });

  describe('404', () => {
    test('a domain_id of another account and an unknown one: the same bytes', async () => {
      const { db, get, read } = await serveAlerts();
      const theirs = await anAccount(db);
      const foreign = await aDomain(db, theirs.id);
      await anAlert(db, { accountId: theirs.id, domainId: foreign.id });
      const a = await read(`?domain_id=${foreign.id}`);
      const b = await read(`?domain_id=${NOBODYS}`);
      expect([a.status, b.status]).toEqual([404, 404]);
      expect(a.body).toEqual({ error: { code: 'not_found', message: 'No such domain.' } });
      expect(b.text).toBe(a.text);
      const own = await get(`${PATH}?domain_id=${foreign.id}`, { key: theirs.key });
      expect(own.body.total).toBe(1);
    });
  });

  describe('422', () => {
    let read: Awaited<ReturnType<typeof serveAlerts>>['read'];
    beforeAll(async () => {
      const api = await startApi();
      ({ read } = await serveAlerts(api));
      return api.close;
    });

    test.each([
      'domain_id=',
      'domain_id=x',
      'domain_id',
      'domain_id=1',
      'domain_id=12345678901234567890123456789012',
      'domain_id=urn:uuid:0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e',
      'domain_id=0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e%00',
      'domain_id=%200b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e',
      'domain_id=%zz',
      'domain_id[]=0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e',
      'domain_id[a]=0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e',
      'domain_id=0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e&domain_id=0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e',
    ])('%s', async (query) => {
      const { status, body } = await read(`?${query}`);
      expect(status).toBe(422);
      expect(body.error).toEqual({
        code: 'validation_error',
        message: '"domain_id" must be a UUID, given once.',
      });
    });

    test.each([
      'type=',
      'type=alert.of_tomorrow',
      'type=policy_weakened',
      'type=ALERT.POLICY_WEAKENED',
      'type[]=alert.policy_weakened',
      'type=alert.policy_weakened&type=alert.policy_weakened',
      'type=alert.policy_weakened,alert.reports_missing',
    ])('%s', async (query) => {
      const { status, body } = await read(`?${query}`);
      expect([status, body.error.code]).toEqual([422, 'validation_error']);
      const types = RULES.map(({ type }) => type).join(', ');
      expect(body.error.message).toBe(`"type" must be one of ${types}, given once.`);
    });
  });
});
