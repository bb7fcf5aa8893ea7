import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { UNKNOWN_RECORD } from '../../src/domain/dns/dns-watch.ts';
import { updateDnsRecord } from '../../src/store/alerts/dns-records.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import { updateNames } from '../../src/store/days/names.ts';
import { updateDomainStatus, updateSendsNoMail } from '../../src/store/domains/domains.ts';
import { serveApi, walk } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  anAlert,
  aRecord,
  aReportOf,
  NOW,
  receive,
} from '../support/builders.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(new Date(NOW));
  onTestFinished(() => void vi.useRealTimers());
});

async function serveAccount() {
  const { db, get } = await serveApi();
  const { key, id: accountId } = await anAccount(db);
  const read = (query = '', headers = {}) => get(`/v1/external/overview${query}`, { key, headers });
  const add = (name: string) => aDomain(db, accountId, { name });
  const send = (domain: string, day: string, count: number, wanted = {}) =>
    receive(db, [
      aReportOf([aRecord({ sourceIp: '192.0.2.1', count, ...wanted })], {
        ...{ domain, begin: `${day}T00:00:00Z`, policy: { p: 'none', pct: 50, testing: 'y' } },
      }),
    ]);
  const check = (domainId: string, value: string | null) =>
    updateDnsRecord(db, {
      ...{ domainId, type: 'dmarc', at: NOW },
      update: () => ({ ...UNKNOWN_RECORD, confirmed: { value } }),
    });
  return { db, get, key, accountId, read, add, send, check };
}

type Item = Readonly<Record<string, unknown>>;
const listNames = ({ body }: { body: { data: Item[] } }) => body.data.map(({ domain }) => domain);

describe('GET /v1/external/overview', () => {
  test('has the policy, the figures, the readiness and the next step of a domain', async () => {
    const { db, accountId, read, add, send } = await serveAccount();
    const { id } = await add('a.example');
    await send('a.example', '2026-03-14', 30, { dkim: 'pass' });
    await send('a.example', '2026-03-13', 10);
    await send('a.example', '2026-02-01', 4, { dkim: 'pass' });
    await anAlert(db, { accountId, domainId: id });
    const { body } = await read();
    expect(body).toMatchObject({
      data: [
        {
          ...{ id, domain: 'a.example', status: 'active', last_report_at: NOW, open_alerts: 1 },
          policy: {
            ...{ p: 'none', sp: 'none', np: 'none', pct: 50, testing: true },
            ...{ known_from: 'reports', day: '2026-03-14' },
          },
          figures: {
            ...{
              from: '2026-02-13',
              until: '2026-03-14',
              total_messages: 40,
              aligned_messages: 30,
            },
            ...{ pass_rate: 75, total_messages_before: 4, aligned_messages_before: 4 },
            ...{ pass_rate_before: 100, change: -25, reporters: 'established' },
            ...{ set_aside_reports: 0, set_aside_messages: 0 },
          },
          readiness: { answer: 'not_yet', target: 'quarantine' },
          next_step: { code: 'alert', alert_type: 'alert.alignment_regression' },
        },
      ],
      total: 1,
    });
  });

  test('has no policy and no rate where nothing is known', async () => {
    const { read, add } = await serveAccount();
    await add('a.example');
    const [item] = (await read()).body.data;
    expect(item.policy).toEqual({
      ...{ p: null, sp: null, np: null, pct: null, testing: false, known_from: null, day: null },
    });
    expect(item.figures).toMatchObject({ pass_rate: null, change: null, reporters: 'all' });
    expect(item.next_step.code).toBe('first_reports');
  });

  test('took a forged policy for a fact, and its domain for one that has reached reject', async () => {
    const { db, read, add } = await serveAccount();
    await add('a.example');
    const state = (day: string, sender?: object) =>
      receive(
        db,
        [
          aReportOf([aRecord({ dkim: 'pass' })], {
            ...{ domain: 'a.example', begin: `${day}T00:00:00Z`, policy: { p: 'reject' } },
          }),
        ],
        NOW,
        sender,
      );
    await state('2026-03-14', { authenticated: '', claimed: ['stranger.example'] });
    const [forged] = (await read()).body.data;
    expect(forged.policy).toMatchObject({ p: null, known_from: null, day: null });
    expect(forged.readiness.answer).toBe('wait');
    expect(forged.next_step.code).toBe('wait');
    await state('2026-03-13');
    const [stated] = (await read()).body.data;
    expect(stated.policy).toMatchObject({ p: 'reject', known_from: 'reports', day: '2026-03-13' });
    expect(stated.readiness.answer).toBe('reached');
  });

  test('knows the policy from DNS where a check has confirmed it, also that there is none', async () => {
    const { read, add, send, check } = await serveAccount();
    const { id } = await add('a.example');
    await send('a.example', '2026-03-14', 30);
    await check(id, 'v=DMARC1; p=quarantine; sp=reject');
    const readPolicy = async () => (await read()).body.data[0].policy;
    const dns = { known_from: 'dns', day: null };
    expect(await readPolicy()).toMatchObject({ p: 'quarantine', sp: 'reject', pct: null, ...dns });
    await check(id, null);
    expect(await readPolicy()).toMatchObject({ p: null, sp: null, ...dns });
  });

  test('puts first what needs a person first, or sorts by name', async () => {
    const { read, add, send, check } = await serveAccount();
    for (const name of ['b.example', 'c.example', 'd.example', 'a.example']) await add(name);
    const { id } = await add('reject.example');
    await check(id, 'v=DMARC1; p=reject');
    await send('reject.example', '2026-03-14', 5, { dkim: 'pass' });
    await send('c.example', '2026-03-14', 150);
    await send('d.example', '2026-03-14', 500);
    expect(listNames(await read())).toEqual([
      ...['d.example', 'c.example', 'a.example', 'b.example', 'reject.example'],
    ]);
    expect(listNames(await read('?order=domain'))).toEqual([
      ...['a.example', 'b.example', 'c.example', 'd.example', 'reject.example'],
    ]);
  });

  test.each(['urgency', 'domain'])(
    'a walk by %s meets each active domain of the account once',
    async (order) => {
      const { db, get, key, read, add, send } = await serveAccount();
      for (const name of ['a', 'b', 'c', 'd', 'e']) await add(`${name}.example`);
      const { id } = await add('paused.example');
      await updateDomainStatus(db, id, 'paused');
      await aDomain(db, (await anAccount(db)).id, { name: 'other.example' });
      await send('c.example', '2026-03-14', 150);
      const ask = (path: string) => get(path, { key });
      const { items, totals } = await walk(ask, `/v1/external/overview?order=${order}`, 2);
      expect((items as Item[]).map(({ domain }) => domain)).toEqual(
        listNames(await read(`?order=${order}`)),
      );
      expect(new Set((items as Item[]).map((item) => item['id'])).size).toBe(5);
      expect([...totals]).toEqual([5]);
    },
  );

  test('has an entity tag that changes with whatever it tells of, and with no other account', async () => {
    const { db, accountId, read, add, send, check } = await serveAccount();
    const { id: domainId } = await add('a.example');
    const other = await anAccount(db);
    const foreign = await aDomain(db, other.id, { name: 'foreign.example' });
    const by = { accountId, name: 'somebody', at: NOW, address: null };
    const name = {
      address: '192.0.2.1',
      name: 'mail.a.example',
      expiresAt: '2026-04-01T00:00:00Z',
    };
    const changes = {
      report: () => send('a.example', '2026-03-14', 30),
      record: () => check(domainId, 'v=DMARC1; p=reject'),
      alert: () => anAlert(db, { accountId, domainId }),
      mark: () => updateMark(db, { domainId, subject: '192.0.2.1', mark: 'legitimate' }, by),
      name: () => updateNames(db, { domainId, now: NOW }, [name]),
      word: () => updateSendsNoMail(db, { domainId, sendsNoMail: true }, by),
      domain: () => add('b.example'),
      pause: () => updateDomainStatus(db, domainId, 'paused'),
      day: async () => vi.setSystemTime(new Date('2026-03-16T00:00:00Z')),
    };
    for (const [what, change] of Object.entries(changes)) {
      const again = { 'If-None-Match': (await read()).headers['etag'] ?? '' };
      await receive(db, [aReportOf([aRecord({ count: 1 })], { domain: foreign.name })]);
      expect((await read('', again)).status, what).toBe(304);
      await change();
      expect((await read('', again)).status, what).toBe(200);
    }
  });

  test('a page has up to 1,000 domains', async () => {
    const { db, accountId, read } = await serveAccount();
    for (let i = 0; i < 202; i += 1) await aDomain(db, accountId, { name: `n${i}.example` });
    const whole = await read('?limit=1000');
    expect([whole.body.data.length, whole.headers['link']]).toEqual([202, undefined]);
    expect((await read('?limit=1001')).body.error.message).toContain('from 1 to 1000');
  });

  test('tells the same as the page of the domain after each change: what is kept of its mail is not older', async () => {
    const { db, get, key, accountId, read, add, send } = await serveAccount();
    const { id: domainId } = await add('a.example');
    await add('b.example');
    const by = { accountId, name: 'somebody', at: NOW, address: null };
    const failed = { spf: 'fail', dkim: 'fail' };
    const set = (mark: 'legitimate' | 'unknown' | null) =>
      updateMark(db, { domainId, subject: '192.0.2.1', mark }, by);
    const name = { address: '192.0.2.1', name: 'mail.a.example', expiresAt: NOW };
    const changes = [
      ...[() => send('a.example', '2026-03-14', 30, failed), () => set('legitimate')],
      ...[() => set('unknown'), () => set(null)],
      () => updateNames(db, { domainId, now: NOW }, [name]),
      () => send('a.example', '2026-03-13', 300, failed),
      () => send('b.example', '2026-03-13', 7, failed),
    ];
    const answers = new Set<string>();
    for (const change of changes) {
      await change();
      for (const item of (await read()).body.data) {
        const { body } = await get(`/v1/external/domains/${item.id}`, { key });
        const { readiness, next_step } = body.data;
        expect(item).toMatchObject({ readiness, next_step });
        answers.add(JSON.stringify(readiness));
      }
    }
    expect(answers.size).toBeGreaterThan(3);
  });

  test('has a tag that neither the same names nor the same record change', async () => {
    const { db, read, add, check } = await serveAccount();
    const { id: domainId } = await add('a.example');
    const name = {
      address: '192.0.2.1',
      name: 'mail.a.example',
      expiresAt: '2026-04-01T00:00:00Z',
    };
    const repeat = async () => {
      await updateNames(db, { domainId, now: NOW }, [name]);
      await check(domainId, 'v=DMARC1; p=reject');
    };
    await repeat();
    const again = { 'If-None-Match': (await read()).headers['etag'] ?? '' };
    await repeat();
    expect((await read('', again)).status).toBe(304);
  });

  test('of an account without a domain is empty', async () => {
    const { read } = await serveAccount();
    expect((await read()).body).toEqual({ data: [], total: 0 });
  });
});
