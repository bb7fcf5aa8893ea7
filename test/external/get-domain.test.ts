import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { UNKNOWN_RECORD } from '../../src/domain/dns/dns-watch.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
import type { TlsCheck } from '../../src/domain/tls/tls-check.ts';
import { updateSenderRecords, updateTlsCheck } from '../../src/store/alerts/daily-checks.ts';
import { updateDnsRecord } from '../../src/store/alerts/dns-records.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { type Api, startApi } from '../support/api.ts';
import { aDomain, anAccount, aReport, NOW, receive, UNKNOWN_ID } from '../support/builders.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
  return api.close;
});

async function serveDomain() {
  const { db, get } = api;
  const { key, id } = await anAccount(db);
  const domain = await aDomain(db, id);
  const path = `/v1/external/domains/${domain.id}`;
  const read = (headers = {}) => get(path, { key, headers });
  const check = (value: string | null) =>
    updateDnsRecord(db, {
      ...{ domainId: domain.id, type: 'dmarc', at: NOW },
      update: () => ({ ...UNKNOWN_RECORD, confirmed: { value } }),
    });
  return { db, get, key, domain, path, read, check };
}

/** A report with a policy, of a day. */
function aReportWith(domain: string, p: string, begin: string) {
  return aReport({ domain, begin, policy: { p, pct: 50, discoveryMethod: 'psl' } });
}

describe('GET /v1/external/domains/{domain_id}', () => {
  test('has the policy of the newest report, whichever came last', async () => {
    const { db, domain, read } = await serveDomain();
    const newest = aReportWith(domain.name, 'reject', '2026-03-14T00:00:00Z');
    await receive(db, [newest]);
    await receive(db, [aReportWith(domain.name, 'none', '2026-03-13T00:00:00Z')]);
    const { figures, readiness, next_step, ...others } = (await read()).body.data;
    const { mail, mail_of_subdomains, failed_dispositions, ...rest } = others;
    const { signatures, reported_by, tls, sender_records, ...data } = rest;
    expect(sender_records).toMatchObject({
      spf: { record: null },
      dkim_keys: [],
      checked_at: null,
    });
    expect(tls).toMatchObject({
      last_report_at: null,
      figures: [],
      record: { value: null, findings: [] },
      policy: { mode: null, checked_at: null },
      next_step: { code: 'no_reports' },
    });
    expect({ data }).toStrictEqual({
      data: {
        id: domain.id,
        domain: domain.name,
        status: 'active',
        last_report_at: NOW,
        published_policy: {
          ...{ report_id: toReportId(newest), p: 'reject', sp: null, np: null, adkim: null },
          ...{ aspf: null, pct: 50, fo: null, testing: null, discovery_method: 'psl' },
        },
        dmarc_record: { name: `_dmarc.${domain.name}`, state: 'unknown', value: null },
      },
    });
  });

  test('has the policy that an established reporter found, also when others alone report for thirty days', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { db, domain, read } = await serveDomain();
    await receive(db, [aReportWith(domain.name, 'none', '2026-03-10T00:00:00Z')]);
    const forged = aReportWith(domain.name, 'reject', '2027-03-14T00:00:00Z');
    await receive(db, [forged], NOW, { authenticated: '' });
    for (const at of ['2026-04-09T23:59:59Z', '2026-04-10T00:00:00Z']) {
      vi.setSystemTime(new Date(at));
      expect((await read()).body.data.published_policy.p).toBe('none');
    }
  });

  test('has no policy that strangers alone state', async () => {
    const { db, domain, read } = await serveDomain();
    const forged = aReportWith(domain.name, 'reject', '2026-03-14T00:00:00Z');
    await receive(db, [forged], NOW, { authenticated: '' });
    const { figures, published_policy } = (await read()).body.data;
    expect(figures.reporters).toBe('all');
    expect(new Set(Object.values(published_policy))).toEqual(new Set([null]));
  });

  test('before its first report has no policy', async () => {
    const { domain, read } = await serveDomain();
    const { body } = await read();
    expect(body.data).toMatchObject({ id: domain.id, last_report_at: null });
    expect(new Set(Object.values(body.data.published_policy))).toEqual(new Set([null]));
  });

  test('has the record that was last seen in DNS', async () => {
    const { read, check } = await serveDomain();
    await check('v=DMARC1; p=none');
    const found = { state: 'found', value: 'v=DMARC1; p=none' };
    expect((await read()).body.data.dmarc_record).toMatchObject(found);
    await check(null);
    const absent = { state: 'absent', value: null };
    expect((await read()).body.data.dmarc_record).toMatchObject(absent);
  });

  test('is read while the domain is paused, which the list of domains leaves out', async () => {
    const { db, domain, read } = await serveDomain();
    await updateDomainStatus(db, domain.id, 'paused');
    expect((await read()).body.data.status).toBe('paused');
  });

  test('has an entity tag that changes with a report, the status and the record, and only then', async () => {
    const { db, domain, read, check } = await serveDomain();
    await check('v=DMARC1; p=none');
    const changes = [
      () => receive(db, [aReport({ domain: domain.name })]),
      () => check('v=DMARC1; p=reject'),
      () => updateDomainStatus(db, domain.id, 'paused'),
    ];
    for (const change of changes) {
      const { etag = '' } = (await read()).headers;
      const again = { 'If-None-Match': etag, 'X-Request-Id': 'mine' };
      await receive(db, [aReport({ domain: 'other.example' })]);
      expect((await read(again)).status).toBe(304);
      await change();
      expect((await read(again)).status).toBe(200);
    }
  });

  test('has what two checks in a row found of TLS reports and MTA-STS, with a tag of its own', async () => {
    const { db, domain, read } = await serveDomain();
    const check: TlsCheck = {
      record: { value: 'v=TLSRPTv1;', findings: ['no_rua'] },
      sts: {
        ...{ id: '7', recordFindings: ['id_not_changed'], fileFindings: ['mx_not_covered'] },
        policy: { mode: 'testing', mx: ['mx1.example.com'], maxAge: 604_800 },
      },
    };
    const store = () => updateTlsCheck(db, { domainId: domain.id, at: NOW, found: check });
    await store();
    const { body, headers } = await read();
    expect(body.data.tls).toMatchObject({ record: { value: null }, policy: { id: null } });
    await store();
    const { tls } = (await read({ 'if-none-match': headers['etag'] })).body.data;
    expect(tls.record).toEqual(check.record);
    expect(tls.policy).toEqual({
      ...{ id: '7', mode: 'testing', mx: ['mx1.example.com'], max_age: 604_800 },
      ...{ findings: ['id_not_changed', 'mx_not_covered'], checked_at: NOW },
    });
  });

  test('has what two checks found of the records of senders, with sentences and a tag of its own', async () => {
    const { db, domain, read } = await serveDomain();
    const { name } = domain;
    const spf = { record: 'v=spf1 -all', lookups: 0, voidLookups: 0, findings: [] };
    const key = { state: 'found', bits: 512, findings: ['short'] } as const;
    const of = { domain: name, isProven: true };
    const found = {
      spf: [{ ...of, selector: null, found: spf }],
      keys: [{ ...of, selector: 's1', found: key }],
    };
    const store = () => updateSenderRecords(db, { domainId: domain.id, at: NOW, found });
    await store();
    const { body, headers } = await read();
    expect(body.data.sender_records).toMatchObject({
      dkim_keys: [{ selector: 's1', state: 'unknown', bits: null }],
    });
    await store();
    const { sender_records } = (await read({ 'if-none-match': headers['etag'] })).body.data;
    expect(sender_records).toEqual({
      spf: {
        ...{ domain: name, record: 'v=spf1 -all', lookups: 0, void_lookups: 0 },
        ...{ findings: [], text: null },
      },
      spf_of_envelopes: [],
      dkim_keys: [
        {
          ...{ domain: name, selector: 's1', is_proven: true, state: 'found', bits: 512 },
          findings: ['short'],
          text: `s1._domainkey.${name} has a key of 512 bits, and receivers take none under 1,024: ask who signs with it for one of 2,048.`,
        },
      ],
      checked_at: NOW,
    });
  });

  test('of nobody and of another account is the same 404', async () => {
    const { get, path } = await serveDomain();
    const { key } = await anAccount(api.db);
    const error = { code: 'not_found', message: 'No such domain.' };
    for (const wrong of [path, `/v1/external/domains/${UNKNOWN_ID}`]) {
      const { status, body } = await get(wrong, { key });
      expect([status, body]).toEqual([404, { error }]);
    }
  });

  test('with a malformed id is a 422', async () => {
    const { get, key } = await serveDomain();
    const { status, body } = await get('/v1/external/domains/x', { key });
    expect([status, body.error.code]).toEqual([422, 'validation_error']);
  });
});
