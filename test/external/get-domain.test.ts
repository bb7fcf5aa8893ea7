import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { UNKNOWN_RECORD } from '../../src/domain/dns/dns-watch.ts';
import { toReportId } from '../../src/domain/reports/report-identity.ts';
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
    const { signatures, reported_by, ...data } = rest;
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

  test('has the policy that an established reporter found, until thirty days after its last report', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { db, domain, read } = await serveDomain();
    await receive(db, [aReportWith(domain.name, 'none', '2026-03-10T00:00:00Z')]);
    const forged = aReportWith(domain.name, 'reject', '2027-03-14T00:00:00Z');
    await receive(db, [forged], NOW, { authenticated: '' });
    vi.setSystemTime(new Date('2026-04-09T23:59:59Z'));
    const { body, headers } = await read();
    expect(body.data.published_policy.p).toBe('none');
    vi.setSystemTime(new Date('2026-04-10T00:00:00Z'));
    const later = await read({ 'If-None-Match': headers['etag'] ?? '' });
    expect(later.body.data.published_policy.p).toBe('reject');
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
