import { beforeEach, describe, expect, test } from 'vitest';
import { UNKNOWN_RECORD } from '../../src/domain/dns/dns-watch.ts';
import { toInstant } from '../../src/domain/instant.ts';
import { findMailToken } from '../../src/store/accounts/mail-address.ts';
import {
  findRouteCheck,
  listDnsRecords,
  listDomainsToCheck,
  updateDnsRecord,
  updateRouteCheck,
} from '../../src/store/alerts/dns-records.ts';
import { SHARDS } from '../../src/store/work/shards.ts';
import { type Api, serveApi } from '../support/api.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { serveDns, type Zone } from '../support/dns-server.ts';
import { aVisitor, toReadable } from '../support/visitor.ts';

const ADDRESS = 'dmarc@reports.example.net';
const AUTHORISATION = 'example.com._report._dmarc.reports.example.net';
const RIGHT: Zone = {
  '_dmarc.example.com': [[`v=DMARC1; p=none; rua=mailto:${ADDRESS}`]],
  [AUTHORISATION]: [['v=DMARC1;']],
  'reports.example.net': { mx: [{ priority: 10, exchange: 'mx.example.net' }] },
};

let zone: Zone;
let asked: string[];

beforeEach(() => {
  zone = { ...RIGHT };
});

/** A signed-in person's page of the domain example.com. */
async function aDomainPage(wanted: Parameters<typeof serveApi>[0] = { reportAddress: ADDRESS }) {
  const dns = await serveDns(zone);
  asked = dns.asked;
  const api: Api = await serveApi({ dnsServers: [dns.address], ...wanted });
  const accountId = await aBareAccount(api.db);
  const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
  const { browser } = await aVisitor(api, accountId);
  const path = `/settings/domains/${id}`;
  const read = async () => toReadable((await browser.get(path)).text);
  const check = async () => {
    const { status, headers } = await browser.post(`${path}/check`);
    expect([status, headers['location']]).toEqual([303, path]);
    return await read();
  };
  return { api, accountId, id, path, browser, read, check };
}

describe('the page of a domain', () => {
  test('says what to publish, each record with its name and value, without asking DNS', async () => {
    const { read } = await aDomainPage({ reportAddress: ADDRESS, mailHost: 'mx.example.net' });
    const text = await read();
    expect(text).toContain(`TXT record _dmarc.example.com with rua=mailto:${ADDRESS}`);
    expect(text).toContain(`TXT record ${AUTHORISATION} with v=DMARC1;`);
    expect(text).toContain('MX record reports.example.net with 10 mx.example.net');
    expect(text).toContain('Nobody has asked yet whether reports can come.');
    expect(text).toContain('No report has come in for this domain yet.');
    expect(asked).toEqual([]);
  });

  test('names the account’s own address, and no authorisation within one organisation', async () => {
    const { api, accountId, read } = await aDomainPage({ mailHost: 'reports.example.com' });
    const address = `${await findMailToken(api.db, accountId)}@reports.example.com`;
    const text = await read();
    expect(text).toContain(`rua=mailto:${address}`);
    expect(text).not.toContain('_report._dmarc');
  });

  test('says nothing of DNS when there is no address for reports', async () => {
    const { browser, path, read, api, id } = await aDomainPage({});
    expect(await read()).not.toContain('Do reports come in?');
    await browser.get('/settings/security');
    expect((await browser.post(`${path}/check`)).status).toBe(303);
    expect(await findRouteCheck(api.db, id)).toBeUndefined();
    expect(asked).toEqual([]);
  });
});

describe('checking what DNS says', () => {
  test('shows on the page what is right, in the words of the command, until the next check', async () => {
    const { check, read } = await aDomainPage();
    const text = await check();
    expect(text).toContain('DNS is right.');
    expect(text).toMatch(
      /What DNS said just now Right The record at _dmarc\.example\.com asks for reports to dmarc@/,
    );
    expect(text).toContain('Right Mail to reports.example.net goes to mx.example.net.');
    const queries = asked.length;
    expect(await read()).toContain('What DNS said');
    expect(asked).toHaveLength(queries);
  });

  test('says what is wrong and what to publish, and takes the place of the former check', async () => {
    const { check } = await aDomainPage();
    await check();
    delete zone[AUTHORISATION];
    zone['_dmarc.example.com'] = [['v=DMARC1; p=reject; rua=mailto:<b>x</b>@example.org']];
    const text = await check();
    expect(text).toContain('Something in DNS is not right.');
    expect(text).toContain(
      'Wrong The record at _dmarc.example.com names only &lt;b&gt;x&lt;/b&gt;@',
    );
    expect(text).toContain('so most receivers send none. Publish a TXT record');
    expect(text).not.toContain('asks for reports to');
  });

  test('knows an address of PLUMBLINE_SMTP_RECIPIENTS as one of ours', async () => {
    zone['_dmarc.example.com'] = [['v=DMARC1; rua=mailto:rua@reports.example.net']];
    const smtpRecipients = ['RUA@reports.example.net'];
    const { check } = await aDomainPage({ reportAddress: ADDRESS, smtpRecipients });
    expect(await check()).toContain('asks for reports to RUA@reports.example.net');
  });

  test('keeps a thousand characters of each finding: DNS can hold any text', async () => {
    const { api, id, read } = await aDomainPage();
    const findings = [{ check: 'rua', ok: false, text: 'x'.repeat(60_000) }] as const;
    await updateRouteCheck(api.db, id, { checkedAt: '2026-03-15T04:00:00Z', findings });
    expect(await read()).toContain(` ${'x'.repeat(1_000)} … `);
  });

  test('shows at once what is wrong with the SPF record', async () => {
    zone['example.com'] = [['v=spf1 a:nowhere.example.net +all']];
    const { check } = await aDomainPage();
    const text = await check();
    expect(text).toContain('The SPF record of example.com lets anybody pass (+all).');
    expect(text).toContain('SPF, 1 of 10 look-ups');
  });

  test('of another account’s domain is not possible', async () => {
    const { api, id } = await aDomainPage();
    const { browser } = await aVisitor(api, await aBareAccount(api.db));
    await browser.get('/settings/security');
    expect((await browser.post(`/settings/domains/${id}/check`)).status).toBe(404);
    expect(asked).toEqual([]);
    expect(await findRouteCheck(api.db, id)).toBeUndefined();
  });

  test('is refused without the form’s token, and from another site', async () => {
    const { browser, path } = await aDomainPage();
    await browser.get(path);
    const foreign = { 'Sec-Fetch-Site': 'cross-site' };
    expect((await browser.post(`${path}/check`, {}, foreign)).status).toBe(403);
    expect((await browser.post(`${path}/check`, { form_token: '' })).status).toBe(403);
    expect(asked).toEqual([]);
  });

  test('is possible thirty times in fifteen minutes', async () => {
    const { browser, path } = await aDomainPage();
    await browser.get(path);
    const statuses: number[] = [];
    for (let i = 0; i < 31; i += 1) statuses.push((await browser.post(`${path}/check`)).status);
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 303), 429]);
  });

  test('changes neither what alerts know of the domain nor when its records are checked', async () => {
    const { check, api, id } = await aDomainPage();
    const now = toInstant(new Date());
    await updateDnsRecord(api.db, {
      ...{ domainId: id, at: '2026-01-01T00:00:00Z', type: 'dmarc' },
      update: () => UNKNOWN_RECORD,
    });
    await check();
    const rows = await api.store.reader.readAll(listDnsRecords({ domainId: id }));
    expect(rows.map(({ record_type }) => record_type)).toEqual(['dmarc']);
    const shard = SHARDS.find(({ digit }) => id.startsWith(digit));
    if (shard === undefined) throw new Error('an id of another form');
    const toCheck = await listDomainsToCheck(api.db, { shard, now, since: '2026-02-01T00:00:00Z' });
    expect(toCheck).toEqual([{ id, name: 'example.com' }]);
  });
});
