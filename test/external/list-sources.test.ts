import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { anMmdb } from '../../scripts/mmdb.ts';
import { addDays } from '../../src/domain/instant.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import { VERDICTS } from '../../src/external/verdicts.ts';
import { readSources } from '../../src/judging/source-list.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import { updateNames } from '../../src/store/days/names.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { removeDomain } from '../../src/store/domains/removed-domains.ts';
import { removeReport } from '../../src/store/reports/corrections.ts';
import { serveApi, walk } from '../support/api.ts';
import {
  aDomain,
  anAccount,
  aRecord,
  aReport,
  aReportOf,
  aSignature,
  NOW,
  receive,
  UNKNOWN_ID,
} from '../support/builders.ts';

/** Of the tests' clock. */
const TODAY = '2026-03-15';
const PASSED = { spf: 'pass', dkim: 'pass', signatures: [aSignature()] } as const;
const [OWN, FORGER] = ['192.0.2.10', '2001:db8::66'];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(new Date(NOW));
  onTestFinished(() => void vi.useRealTimers());
});

const pathOf = (domainId: string) => `/v1/external/domains/${domainId}/sources`;

async function serveDomain(wanted: Parameters<typeof serveApi>[0] = {}) {
  const { store, db, get } = await serveApi(wanted);
  const { key, id: accountId } = await anAccount(db);
  const domain = await aDomain(db, accountId);
  const send = (day: string, records: readonly ReturnType<typeof aRecord>[], orgName = 'One') => {
    const report = aReportOf(records, { domain: domain.name, begin: `${day}T00:00:00Z`, orgName });
    return receive(db, [report]).then(() => report);
  };
  const read = (query = '', headers = {}) => get(`${pathOf(domain.id)}${query}`, { key, headers });
  const list = async (query = '') =>
    (await read(query)).body.data.map(({ source_ip }: { source_ip: string }) => source_ip);
  const mark = (subject: string, as: 'legitimate' | null) =>
    updateMark(
      db,
      { domainId: domain.id, subject, mark: as },
      { name: 'you@example.com', accountId, address: '192.0.2.8', at: NOW },
    );
  return { store, db, get, key, accountId, domain, send, read, list, mark };
}

describe('GET /v1/external/domains/{domain_id}/sources', () => {
  test('has another verdict, and tag, when the account gets or loses the domain as which a sender signs', async () => {
    const { db, accountId, get, key, domain, send, read } = await serveDomain();
    const spfDomain = 'bounce.sister-brand.example';
    await send(TODAY, [aRecord({ sourceIp: OWN, count: 50, spfDomain })]);
    const { body, headers } = await read();
    const about = `/v1/external/domains/${domain.id}`;
    const before = await get(about, { key });
    expect(body.data[0].verdict).toBe('not_recognised');

    const sister = await aDomain(db, accountId, { name: 'sister-brand.example' });
    const again = { 'if-none-match': headers['etag'] ?? '' };
    const after = await read('', again);
    expect(after.body.data[0].verdict).toBe('needs_setup');
    const tag = { 'if-none-match': before.headers['etag'] ?? '' };
    const { mail } = (await get(about, { key, headers: tag })).body.data;
    expect(mail).not.toStrictEqual(before.body.data.mail);

    // It keeps as many domains that are not paused.
    await updateDomainStatus(db, sister.id, 'paused');
    const paused = await read();
    expect(paused.body.data[0].verdict).toBe('needs_setup');
    await removeDomain(db, sister.id, { accountId });
    const gone = await read('', { 'if-none-match': paused.headers['etag'] ?? '' });
    expect(gone.body.data[0].verdict).toBe('not_recognised');
  });

  test('returns who sent, with what is known of them, those with most failed messages first', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plumbline-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const ipDatabase = join(folder, 'networks.mmdb');
    const record = { asn: 'AS64500', as_name: 'Example Networks', country_code: 'CH' };
    writeFileSync(ipDatabase, anMmdb({ networks: { '192.0.2.0/24': record } }));
    const { db, domain, send, read, mark } = await serveDomain({ ipDatabase });
    const own = aRecord({ sourceIp: OWN, count: 40, ...PASSED });
    const signed = { dkim: 'pass', signatures: [aSignature()] } as const;
    await send('2026-03-01', [own]);
    await send('2026-03-10', [own, aRecord({ sourceIp: OWN, count: 2, ...signed })], 'Other');
    await send('2026-03-10', [aRecord({ sourceIp: FORGER, count: 7 })]);
    await receive(db, [aReport({ domain: domain.name, totalMessages: 3, alignedMessages: 0 })]);
    await mark(OWN, 'legitimate');
    expect((await read()).body).toStrictEqual({
      data: [
        {
          source_ip: FORGER,
          total_messages: 7,
          aligned_messages: 0,
          dkim_aligned_messages: 0,
          spf_aligned_messages: 0,
          first_day: '2026-03-10',
          last_day: '2026-03-10',
          dispositions: { none: 7, quarantine: 0, reject: 0, other: 0 },
          service: { name: null, kind: null, evidence: null, domain: null },
          mark: null,
          network: { asn: null, organisation: null, country: null },
          ...{ sender: 'mailer.example', verdict: 'not_recognised', standing: 'stranger' },
          reasons: ['unlisted_domain'],
        },
        {
          source_ip: OWN,
          total_messages: 82,
          aligned_messages: 82,
          dkim_aligned_messages: 82,
          spf_aligned_messages: 80,
          first_day: '2026-03-01',
          last_day: '2026-03-10',
          dispositions: { none: 82, quarantine: 0, reject: 0, other: 0 },
          service: { name: null, kind: null, evidence: null, domain: null },
          mark: 'legitimate',
          network: { asn: 64500, organisation: 'Example Networks', country: 'CH' },
          ...{ sender: OWN, verdict: 'yours', standing: 'passing' },
          reasons: ['marked', 'passes'],
        },
      ],
      total: 2,
      unlisted_messages: 3,
      ...{ reporters: 'established', set_aside_reports: 0, set_aside_messages: 0 },
    });
  });

  test('says which service sends, by what passed, and what receivers did with the messages', async () => {
    const { send, read } = await serveDomain();
    const signed = { spfResult: 'none', signatures: [aSignature({ domain: 'em.sendgrid.net' })] };
    await send('2026-03-01', [
      aRecord({ sourceIp: OWN, count: 5, disposition: 'quarantine', ...signed }),
      aRecord({ sourceIp: OWN, count: 3, disposition: 'reject', ...signed }),
    ]);
    await send('2026-03-02', [
      aRecord({ sourceIp: OWN, count: 2, disposition: null, ...signed }),
      aRecord({ sourceIp: OWN, count: 1, ...signed }),
      aRecord({ sourceIp: FORGER, spfDomain: 'sendgrid.net', spfResult: 'fail' }),
      aRecord({ sourceIp: '192.0.2.11', spfDomain: 'sendgrid.net', spfResult: 'pass' }),
    ]);
    const { data } = (await read()).body;
    const found = Object.fromEntries(
      data.map((source: { source_ip: string }) => [source.source_ip, source]),
    );
    const sendgrid = { name: 'Twilio SendGrid', kind: 'transactional', domain: 'sendgrid.net' };
    expect(found[OWN]).toMatchObject({
      dispositions: { none: 1, quarantine: 5, reject: 3, other: 2 },
      service: { ...sendgrid, evidence: 'dkim' },
    });
    // They are one sender, which has the strongest evidence of its addresses.
    expect(found['192.0.2.11'].service).toEqual({ ...sendgrid, evidence: 'dkim' });
    expect(found[FORGER].service.name).toBeNull();
  });

  test('a walk meets each source once, in either order', async () => {
    const { get, key, domain, send, list } = await serveDomain();
    const counts = [3, 9, 1, 7, 5];
    const records = counts.map((count, i) =>
      aRecord({ sourceIp: `192.0.2.${i}`, count, ...(count > 5 && PASSED) }),
    );
    await send(TODAY, records);
    const ask = (page: string) => get(page, { key });
    for (const [order, wanted] of [
      ['failed', [4, 0, 2, 1, 3]],
      ['messages', [1, 3, 4, 0, 2]],
    ] as const) {
      const { items, totals } = await walk(ask, `${pathOf(domain.id)}?order=${order}`, 2);
      const addresses = items.map((item) => (item as { source_ip: string }).source_ip);
      expect(addresses).toEqual(wanted.map((i) => `192.0.2.${i}`));
      expect([...totals]).toEqual([5]);
    }
    expect(await list()).toEqual(await list('?order=failed'));
  });

  test('has the last 30 days, unless it is asked for others', async () => {
    const { send, list } = await serveDomain();
    const days = [0, 29, 30, 365, 366].map((ago) => addDays(TODAY, -ago));
    for (const [i, day] of days.entries()) await send(day, [aRecord({ sourceIp: `192.0.2.${i}` })]);
    const ofDays = (...numbers: readonly number[]) => numbers.map((i) => `192.0.2.${i}`);
    expect(await list()).toEqual(ofDays(0, 1));
    expect(await list(`?from=${days[3]}`)).toEqual(ofDays(0, 1, 2, 3));
    expect(await list(`?until=${days[1]}`)).toEqual(ofDays(1, 2));
    expect(await list(`?from=${days[4]}&until=${days[3]}`)).toEqual(ofDays(3, 4));
    expect(await list(`?from=${days[1]}&until=${days[1]}`)).toEqual(ofDays(1));
  });

  test('the figures are those of the settings page', async () => {
    const { store, accountId, domain, send, read } = await serveDomain();
    await send(TODAY, [aRecord({ sourceIp: OWN, count: 5, ...PASSED }), aRecord({ count: 2 })]);
    const range = { from: TODAY, to: TODAY };
    const scope = { accountId, domainId: domain.id };
    const wanted = { scope, range, today: TODAY, failingOnly: false, limit: 50, offset: 0 };
    const page = await readSources(store.reader, wanted);
    const { body } = await read(`?from=${TODAY}&until=${TODAY}`);
    expect(body.data).toMatchObject(
      page.sources.map(({ address, messages, aligned }) => ({
        ...{ source_ip: address, total_messages: messages, aligned_messages: aligned },
      })),
    );
    expect(body.total).toBe(page.total);
  });

  test('has a damaged day counted again', async () => {
    const { db, send, list } = await serveDomain();
    await send('2026-01-02', [aRecord({ sourceIp: OWN })]);
    await send(TODAY, [aRecord({ sourceIp: FORGER })]);
    await db.write((tx) => {
      const day = tx.updateTable('domain_day').where('day', '=', '2026-01-02');
      return day.set({ sources: Buffer.from('damaged') }).execute();
    });
    expect(await list('?from=2026-01-01')).toHaveLength(2);
  });

  test('has an entity tag that changes with the domain’s reports, with marks, and with the day', async () => {
    const { db, send, read, mark } = await serveDomain();
    await send('2026-03-01', [aRecord({ sourceIp: OWN })]);
    let etag = '';
    const isNew = async () => {
      const answer = await read('', { 'If-None-Match': etag, 'X-Request-Id': 'mine' });
      etag = answer.headers['etag'] ?? '';
      return answer.status === 200;
    };
    expect(await isNew()).toBe(true);
    expect(await isNew()).toBe(false);
    const report = await send('2026-03-02', [aRecord({ sourceIp: FORGER })]);
    expect(await isNew()).toBe(true);
    await removeReport(db, toReportId(report), NOW);
    expect(await isNew()).toBe(true);
    await mark(OWN, 'legitimate');
    expect(await isNew()).toBe(true);
    await mark(OWN, null);
    expect(await isNew()).toBe(true);
    expect(await isNew()).toBe(false);
    vi.setSystemTime(new Date('2026-03-16T00:00:00Z'));
    expect(await isNew()).toBe(true);
  });

  test('sets aside what nobody authenticated, until established reporters have been silent for thirty days', async () => {
    const { db, domain, send, read } = await serveDomain();
    await send('2026-03-01', [aRecord({ sourceIp: OWN, count: 5 })]);
    const forged = [aRecord({ sourceIp: FORGER, count: 33_000_000, ...PASSED })];
    const report = aReportOf(forged, { domain: domain.name, begin: '2026-03-02T00:00:00Z' });
    await receive(db, [report], NOW, { authenticated: '' });
    const range = '?from=2026-03-01&until=2026-03-02';
    const counted = { reporters: 'established', set_aside_reports: 1 };
    const { body, headers } = await read(range);
    expect(body).toMatchObject({ ...counted, total: 1, set_aside_messages: 33_000_000 });
    expect(body.data).toMatchObject([{ source_ip: OWN, total_messages: 5 }]);
    const again = { 'If-None-Match': headers['etag'] ?? '' };
    vi.setSystemTime(new Date('2026-03-31T23:59:59Z'));
    expect((await read(range, again)).status).toBe(304);
    vi.setSystemTime(new Date('2026-04-01T00:00:00Z'));
    const all = { reporters: 'all', set_aside_reports: 0, set_aside_messages: 0, total: 2 };
    expect((await read(range, again)).body).toMatchObject(all);
  });

  describe('422', () => {
    const RANGE = '"from" to "until" must be 1 to 366 days, both included.';

    test.each([
      ['from=2026-02-29', '"from" must be a day like 2026-03-14, given once.'],
      ['until=yesterday', '"until" must be a day like 2026-03-14, given once.'],
      ['until=0000-01-01', '"until" must be a day from 1970-01-01 on.'],
      ['order=name', '"order" must be one of failed, messages, given once.'],
      ['from=2026-03-16', RANGE],
      ['from=2026-03-10&until=2026-03-09', RANGE],
      ['from=2025-03-14', RANGE],
      ['from=0000-01-01', RANGE],
    ])('%s: %s', async (query, message) => {
      const { status, body } = await (await serveDomain()).read(`?${query}`);
      expect([status, body.error]).toEqual([422, { code: 'validation_error', message }]);
    });
  });

  test.each(['1970-01-01', '9999-12-31'])('%s is a day: 200', async (day) => {
    const { body } = await (await serveDomain()).read(`?until=${day}`);
    expect(body).toEqual({
      data: [],
      total: 0,
      unlisted_messages: 0,
      reporters: 'all',
      set_aside_reports: 0,
      set_aside_messages: 0,
    });
  });

  test('404 is the same for a domain that nobody has and for another account’s', async () => {
    const { db, get, key } = await serveDomain();
    const others = await aDomain(db, (await anAccount(db)).id);
    for (const id of [others.id, UNKNOWN_ID]) {
      const { status, body } = await get(pathOf(id), { key });
      expect([status, body.error]).toEqual([
        404,
        { code: 'not_found', message: 'No such domain.' },
      ]);
    }
  });
});

describe('filters', () => {
  const ADDRESSES = ['192.0.2.10', '192.0.2.11', '198.51.100.7', '2001:db8::66', '2001:db8:1::1'];

  /** Two that pass, one of a service that fails, and two that nothing authenticates. */
  async function serveMany() {
    const served = await serveDomain();
    const [one, two, three, ...others] = ADDRESSES as [string, string, string, ...string[]];
    const signed = { spfResult: 'none', signatures: [aSignature({ domain: 'em.sendgrid.net' })] };
    await served.send('2026-03-10', [
      aRecord({ sourceIp: one, count: 40, ...PASSED }),
      aRecord({ sourceIp: two, count: 30, ...PASSED }),
      aRecord({ sourceIp: three, count: 25, ...signed }),
      ...others.map((sourceIp, i) => aRecord({ sourceIp, count: 5 + i })),
    ]);
    return { ...served, addresses: ADDRESSES };
  }

  type Source = {
    source_ip: string;
    total_messages: number;
    aligned_messages: number;
    service: { name: string | null };
  };

  test.each<readonly [string, (source: Source) => boolean]>([
    ['failing=true', (one) => one.total_messages > one.aligned_messages],
    ['service=SENDgrid', ({ service }) => service.name === 'SendGrid'],
    ['service=Send', () => false],
    ['address=192.0.2.10', ({ source_ip }) => source_ip === '192.0.2.10'],
    ['address=::FFFF:192.0.2.10', ({ source_ip }) => source_ip === '192.0.2.10'],
    ['address=192.0.2.0/24', ({ source_ip }) => source_ip.startsWith('192.0.2.')],
    ['address=2001:DB8:0::/48', ({ source_ip }) => source_ip === '2001:db8::66'],
    ['address=2001:db8::/32&failing=true', ({ source_ip }) => source_ip.startsWith('2001:db8:')],
    ['address=::/0', ({ source_ip }) => source_ip.includes(':')],
    ['failing=true&service=SendGrid&order=messages', ({ service }) => service.name === 'SendGrid'],
  ])('%s has those of the whole list that match, and a tag of its own', async (query, isMeant) => {
    const { read, send } = await serveMany();
    const whole = await read();
    const found = await read(`?${query}`);
    const wanted = whole.body.data.filter(isMeant);
    expect(found.body).toEqual({ ...whole.body, data: wanted, total: wanted.length });
    expect(found.headers['etag']).not.toBe(whole.headers['etag']);
    const { items } = await walk((path) => read(path), `?${query}`, 2);
    expect(items).toEqual(wanted);
    const ask = () => read(`?${query}`, { 'If-None-Match': found.headers['etag'] });
    expect((await ask()).status).toBe(304);
    await send('2026-03-11', [aRecord({ sourceIp: '192.0.2.10', count: 1 })]);
    expect((await ask()).status).toBe(200);
  });

  test('each source has one verdict, and a mark gives it another one', async () => {
    const { list, mark, addresses, read } = await serveMany();
    const byVerdict = async () =>
      Object.fromEntries(
        await Promise.all(VERDICTS.map(async (one) => [one, await list(`?verdict=${one}`)])),
      );
    const before = await byVerdict();
    expect(Object.values(before).flat().sort()).toEqual(addresses.toSorted());
    expect(before.yours).toEqual(expect.arrayContaining(['192.0.2.10', '192.0.2.11']));
    expect(before.needs_setup).toEqual(['198.51.100.7']);
    const { headers } = await read('?verdict=yours');
    await mark('2001:db8::66', 'legitimate');
    const after = await byVerdict();
    expect(after.needs_setup.concat(after.yours)).toContain('2001:db8::66');
    expect(after.not_recognised).not.toContain('2001:db8::66');
    const answer = await read('?verdict=yours', { 'If-None-Match': headers['etag'] });
    expect(answer.status).toBe(200);
    expect(await list('?verdict=yours&address=192.0.2.11/32&failing=true')).toEqual([]);
  });

  // They had only addresses that are judged.
  test('an address is found, and failing ones are counted, in a flood of addresses of which some have no verdict', async () => {
    const { read, send } = await serveDomain();
    for (let day = 0; day < 22; day += 1) {
      const passed = day === 0 && PASSED;
      const records = Array.from({ length: 1_000 }, (_, i) =>
        aRecord({ sourceIp: `10.${day}.${i >> 8}.${i & 255}`, count: 1, ...passed }),
      );
      await send(addDays(TODAY, -1 - day), records);
    }
    const count = async (query: string) => (await read(query)).body.total;
    expect(await count('?failing=true')).toBe(21_000);
    expect(await count('?address=10.0.0.0/16')).toBe(1_000);
    expect(await count('?address=10.0.0.0/15&failing=true')).toBe(1_000);
    const { data } = (await read('?address=10.0.3.7')).body;
    expect(data).toMatchObject([{ source_ip: '10.0.3.7', aligned_messages: 1, verdict: null }]);
  });

  test('a name in DNS that a verdict depends on changes the tag of its list', async () => {
    const { read, store, domain } = await serveMany();
    const { headers } = await read('?verdict=yours');
    const ask = () => read('?verdict=yours', { 'If-None-Match': headers['etag'] });
    expect((await ask()).status).toBe(304);
    const name = { address: '2001:db8::66', name: `mail.${domain.name}`, expiresAt: NOW };
    await updateNames(store.db, { domainId: domain.id, now: NOW }, [name]);
    expect((await ask()).status).toBe(200);
  });
});
