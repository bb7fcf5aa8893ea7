import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { anMmdb } from '../../scripts/mmdb.ts';
import { readRange } from '../../src/settings/frame/range.ts';
import { renderFilters } from '../../src/settings/pages/sources/list-filters.ts';
import { updateNames } from '../../src/store/days/names.ts';
import { type Api, startApi } from '../support/api.ts';
import {
  aBareAccount,
  aDomain,
  anAlert,
  aRecord,
  aReport,
  aReportOf,
  aSignature,
  NOW,
  receive,
} from '../support/builders.ts';
import { aVisitor, type Browser, toReadable } from '../support/visitor.ts';

const OWN = '192.0.2.1';
const MAILER = '198.51.100.7';
const V6 = '2001:db8::25';

/** Text that would end an element, run, and turn what follows around. */
const HOSTILE = `</bdi><script>alert(1)</script>"'\u202e\u2066\u0007${'W'.repeat(300)}`;
const EVIL = '203.0.113.66';

const NETWORKS = anMmdb({
  networks: {
    '192.0.2.0/24': { autonomous_system_number: 64500, autonomous_system_organization: 'Own Net' },
    '203.0.113.66/32': { as_name: HOSTILE.slice(0, 90) },
    '198.51.100.0/24': { asn: 'AS64501', as_name: 'Mailer Net', country_code: 'DE' },
  },
});

/** What every test reads and none changes. */
let api: Api;
let accountId: string;
let browser: Browser;
let path: string;
let folder: string;

const PASSED = { spf: 'pass', dkim: 'pass', spfDomain: 'example.com' } as const;

async function fill({ db }: Pick<Api, 'db'>) {
  const accountId = await aBareAccount(db);
  const { id } = await aDomain(db, accountId, { name: 'example.com' });
  const signed = { ...PASSED, signatures: [aSignature({ selector: 's2026' })] };
  await receive(db, [
    aReportOf(
      [
        aRecord({ sourceIp: OWN, count: 900, ...signed }),
        aRecord({
          sourceIp: OWN,
          count: 4,
          spf: 'fail',
          dkim: 'pass',
          spfDomain: 'example.com',
          spfResult: 'fail',
          signatures: signed.signatures,
        }),
        aRecord({ sourceIp: MAILER, count: 60 }),
      ],
      { begin: '2026-03-14T00:00:00Z' },
    ),
    aReportOf([aRecord({ sourceIp: MAILER, count: 12, disposition: 'quarantine' })], {
      begin: '2026-03-10T00:00:00Z',
      orgName: 'Other Provider',
    }),
    aReportOf([aRecord({ sourceIp: V6, count: 1, spfDomain: 'x.example', spfResult: 'none' })], {
      begin: '2026-02-01T00:00:00Z',
    }),
  ]);
  await updateNames(db, { domainId: id, now: NOW }, [
    { address: MAILER, name: 'out1.mailer.example', expiresAt: '2026-04-01T00:00:00Z' },
    { address: OWN, name: 'mail.example.com', expiresAt: '2026-04-01T00:00:00Z' },
  ]);
  return { accountId, id };
}

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(new Date('2026-06-15T12:00:00Z'));
  folder = mkdtempSync(join(tmpdir(), 'plumbline-'));
  const ipDatabase = join(folder, 'networks.mmdb');
  writeFileSync(ipDatabase, NETWORKS);
  api = await startApi({ dnsChecks: true, ipDatabase });
  let id: string;
  ({ accountId, id } = await fill(api));
  path = `/settings/domains/${id}/sources`;
  ({ browser } = await aVisitor(api, accountId));
  return () => void vi.useRealTimers();
});

afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

const read = async (to: string) => toReadable((await browser.get(to)).text);

describe('the sources of a domain', () => {
  test('are listed with what passed, those with most failed messages first', async () => {
    const text = await read(`${path}?group=address`);
    expect(text).toContain('2 addresses 13 Feb 2026 to 14 Mar 2026, 976 messages in all');
    expect(text).toMatch(
      /198\.51\.100\.7 Not recognised out1\.mailer\.example · AS64501 Mailer Net · Germany 72 0 72 0\.00% 0\.00% 10 Mar 2026 – 14 Mar 2026/,
    );
    expect(text).toMatch(
      /192\.0\.2\.1 Yours mail\.example\.com · AS64500 Own Net 904 904 0 100\.00% 99\.56% 14 Mar 2026/,
    );
    expect(text.indexOf(MAILER)).toBeLessThan(text.indexOf(OWN));
    expect(text).not.toContain(V6);
  });

  test('of another range, and only those that fail', async () => {
    expect(await read(`${path}?group=address&days=90`)).toContain(`${V6} Not recognised 1 0 1`);
    const failing = await read(`${path}?group=address&days=90&failing=1`);
    expect(failing).toContain('2 addresses with failed messages');
    expect(failing).not.toContain(OWN);
    const none = await read(`${path}?from=2026-01-01&to=2026-01-05`);
    expect(none).toContain('No report covers this range; the newest is of 14 Mar 2026.');
    expect(await read(`${path}?from=2026-03-11&to=2026-03-12`)).toContain('No report covers');
  });

  test('are of 366 days at most, and the page says so', async () => {
    const text = await read(`${path}?from=2020-01-01&to=2026-03-14`);
    expect(text).toContain('This list has 366 days at most: this one begins on 14 Mar 2025.');
    expect(text).toContain('14 Mar 2025 to 14 Mar 2026');
    expect(await read(`${path}?from=2025-03-14&to=2026-03-14`)).not.toContain('at most');
  });

  test('of reports that count no messages are none, and no other range is offered', async () => {
    const domain = await aDomain(api.db, accountId);
    await receive(api.db, [aReportOf([], { domain: domain.name })]);
    const text = await read(`/settings/domains/${domain.id}/sources`);
    expect(text).toContain('The reports of this range count no messages.');
    expect(text).not.toContain('No report covers');
  });

  test('are less than the messages where records have no address', async () => {
    const domain = await aDomain(api.db, accountId);
    await receive(api.db, [
      aReportOf([aRecord({ sourceIp: OWN, count: 5 })], { domain: domain.name }),
      // Records without an address.
      aReport({ domain: domain.name, totalMessages: 7, alignedMessages: 0 }),
    ]);
    expect(await read(`/settings/domains/${domain.id}/sources`)).toContain(
      '7 messages of this range came from addresses that are not listed (1,000 of a day are kept: those with most messages, and with most failures), came without an address, or came on days whose sources are not kept any more.',
    );
  });

  test('are grouped by who sent: a service, a domain, or an address, each with its verdict', async () => {
    const domain = await aDomain(api.db, accountId);
    const sent = { spfDomain: 'bounce.sendgrid.net', spfResult: 'pass', signatures: [] };
    await receive(api.db, [
      aReportOf(
        [
          aRecord({ sourceIp: MAILER, count: 40, ...sent }),
          aRecord({ sourceIp: '198.51.100.8', count: 30, ...sent }),
          aRecord({
            sourceIp: '198.51.100.9',
            count: 20,
            ...sent,
            spfDomain: 'sendgrid.net.example',
          }),
          aRecord({
            sourceIp: '203.0.113.9',
            count: 5,
            ...sent,
            spfDomain: 'x.example',
            spfResult: 'none',
          }),
        ],
        { domain: domain.name, begin: '2026-03-14T00:00:00Z' },
      ),
    ]);
    const place = `/settings/domains/${domain.id}/sources`;
    const { text } = await browser.get(place);
    expect(toReadable(text)).toMatch(
      /3 senders .* Twilio SendGrid Needs set-up transactional mail · SPF passed for sendgrid\.net · since 14 Mar 2026 70 0 70 0\.00% 0\.00% 2 net\.example Not recognised since 14 Mar 2026 20 0 20 .* 203\.0\.113\.9 Not recognised since 14 Mar 2026 5 0 5/,
    );
    await receive(api.db, [
      aReportOf([aRecord({ sourceIp: MAILER, count: 1, ...sent })], {
        ...{ domain: domain.name, begin: '2026-03-01T00:00:00Z' },
      }),
    ]);
    expect(await read(`${place}?from=2026-03-14&to=2026-03-14`)).toContain(
      'SPF passed for sendgrid.net · in this range since 14 Mar 2026 70 0 70',
    );
    const link = /href="([^"]+within=service[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    const within = await read(String(link));
    expect(within).toContain('All senders / Twilio SendGrid 2 addresses ');
    expect(within).not.toContain('198.51.100.9');
    const service = await browser.get(`${place}/${MAILER}`);
    expect(toReadable(service.text)).toContain(
      'At Twilio SendGrid this is called domain authentication .',
    );
    expect(service.text).toContain('<a href="https://www.twilio.com/docs/sendgrid/');
    await browser.post(`${place}/mark`, { subject: MAILER, mark: 'unknown' });
    expect(await read(`${place}/${MAILER}`)).not.toContain('is called domain authentication');
    await browser.post(`${place}/mark`, { subject: MAILER, mark: 'none' });
    // The next page would have the notice.
    await read(place);
  });

  test('are grouped by the organisation of their names', async () => {
    const text = await read(`${path}?group=organisation&days=90`);
    expect(text).toMatch(
      /3 organisations .* mailer\.example Not recognised since 10 Mar 2026 72 0 72 .* Not known Not recognised since 1 Feb 2026 1 0 1 .* example\.com Yours since 14 Mar 2026 904/,
    );
    const { text: page } = await browser.get(`${path}?group=organisation&days=90`);
    const link = /href="([^"]+within=mailer\.example[^"]*)"/
      .exec(page)?.[1]
      ?.replaceAll('&amp;', '&');
    const within = await read(String(link));
    expect(within).toContain('All organisations / mailer.example 1 address ');
    expect(within).not.toContain(OWN);
    expect(await read(`${path}?group=organisation&within=nobody.example`)).toContain(
      'There is no such address in this range. Show all',
    );
  });

  test.each([
    ['198.51.100.0/24', MAILER],
    ['51.100', MAILER],
    ['OUT1.mailer', MAILER],
    ['mailer net', MAILER],
    ['2001:db8::/32', V6],
    ['own net', OWN],
    ['2001:db8', V6],
    ['mailer.example', MAILER],
    ['nobody', undefined],
  ])('are searched for %s', async (search, found) => {
    const text = await read(`${path}?group=address&days=90&q=${encodeURIComponent(search)}`);
    for (const address of [OWN, MAILER, V6])
      expect([address, text.includes(`${address} `)]).toEqual([address, address === found]);
    expect(text).toContain(found === undefined ? 'There is no such address' : '1 address ');
  });

  test('are found by the service, and groups have what was found only', async () => {
    const text = await read(`${path}?days=90&q=Mailer`);
    expect(text).toContain('1 sender ');
    expect(text).toContain('mailer.example Not recognised');
    expect(text).not.toContain('example.com Yours');
  });

  test('are sorted by each column, also within the pages of the store', async () => {
    const order = async (query: string) => {
      const text = await read(`${path}?days=90&group=address&${query}`);
      return [OWN, MAILER, V6].toSorted((a, b) => text.indexOf(`${a} `) - text.indexOf(`${b} `));
    };
    expect(await order('sort=messages&order=desc')).toEqual([OWN, MAILER, V6]);
    expect(await order('sort=messages&order=asc')).toEqual([V6, MAILER, OWN]);
    expect(await order('sort=passed&order=desc')).toEqual([OWN, MAILER, V6]);
    expect(await order('sort=failed&order=desc')).toEqual([MAILER, V6, OWN]);
    expect(await order('sort=spf&order=asc')).toEqual([MAILER, V6, OWN]);
    expect(await order('sort=last&order=asc')).toEqual([V6, OWN, MAILER]);
    expect(await order('sort=last&order=asc&q=1')).toEqual([V6, OWN, MAILER]);
  });

  test('are exported as they are shown, with harmless cells', async () => {
    const { text, headers } = await browser.download(`${path}/csv?group=address&q=51.100`);
    expect(headers['content-disposition']).toContain(
      'example.com-sources-2026-02-13-2026-03-14.csv',
    );
    expect(text.slice(1).split('\r\n')).toEqual([
      'Address,Name,Network,Mark,Verdict,Sender,Known by,Messages,Passed,Failed,DKIM aligned,SPF aligned,First day,Last day',
      '198.51.100.7,out1.mailer.example,AS64501 Mailer Net,,Not recognised,mailer.example,,72,0,72,0,0,2026-03-10,2026-03-14',
      '',
    ]);
    const groups = await browser.download(`${path}/csv?sort=messages&order=asc`);
    expect(groups.text.slice(1).split('\r\n').slice(0, 2)).toEqual([
      'Group,Verdict,Sender,Known by,Messages,Passed,Failed,DKIM aligned,SPF aligned,Addresses,First day',
      'mailer.example,Not recognised,mailer.example,,72,0,72,0,0,1,2026-03-10',
    ]);
    const page = await browser.get(`${path}?q=51.100`);
    expect(page.text).toMatch(/href="[^"]+\/sources\/csv\?[^"]*q=51\.100[^"]*" download/);
    const { browser: other } = await aVisitor(api, await aBareAccount(api.db));
    expect((await other.get(`${path}/csv`)).status).toBe(404);
  });

  test('with a choice that cannot be read are those without one', async () => {
    const plain = await read(path);
    for (const query of ['group=x', 'mark=x', 'page=0', 'page=x', 'failing=x', 'sort=x'])
      expect(await read(`${path}?${query}`)).toBe(plain);
    expect(await read(`${path}?page=7`)).toContain('There is no such address');
    expect((await browser.get(`${path}?page=999999`)).status).toBe(200);
  });

  test('of another account’s domain are not found', async () => {
    const { browser: other } = await aVisitor(api, await aBareAccount(api.db));
    for (const place of [path, `${path}/${OWN}`]) expect((await other.get(place)).status).toBe(404);
    expect((await other.post(`${path}/mark`, { subject: OWN, mark: 'unknown' })).status).toBe(404);
    expect((await browser.get('/settings/domains/none/sources')).status).toBe(404);
  });
});

describe('the page of a source', () => {
  test('says what it sent, who reported it, and what to do', async () => {
    const text = await read(`${path}/${MAILER}`);
    expect(text).toContain(
      'Germany · In this range first seen on 10 Mar 2026, last on 14 Mar 2026.',
    );
    expect(await read(`${path}/${MAILER}?days=90`)).toContain(
      'Germany · First seen on 10 Mar 2026, last on 14 Mar 2026.',
    );
    expect(text).toContain('0% of 72 messages passed DMARC');
    expect(text).toContain(
      'mailer.example Not recognised Its messages are authenticated as mailer.example , not as example.com .',
    );
    expect(text).toContain(
      'If you do not know it, ask who uses it. Do you know this sender? Nobody has marked it yet.',
    );
    expect(text).toMatch(
      /Results .* example\.com pass bounces\.mailer\.example not aligned No signature no action 60 Failed .* quarantined 12 Failed/,
    );
    expect(text).toMatch(/Reporters .* Mailbox Provider 60 60 0\.00% Other Provider 12 12 0\.00%/);
  });

  test('names selectors, and tells apart what is forwarded', async () => {
    const text = await read(`${path}/${OWN}`);
    expect(text).toContain('pass example.com selector s2026 aligned');
    expect(text).toMatch(/Passes Probably forwarded 4 messages DKIM passes for example\.com/);
    expect(text).toMatch(/Passes All passes 900 messages/);
  });

  test('says that receivers take its messages for forwarded', async () => {
    const { id, name: domain } = await aDomain(api.db, accountId);
    const reasons = [{ type: 'local_policy', comment: 'arc=pass' }];
    const record = aRecord({ headerFrom: domain, count: 20, spfResult: 'fail', reasons });
    await receive(api.db, [aReportOf([record], { domain })]);
    const text = await read(`/settings/domains/${id}/sources/${record.sourceIp}`);
    expect(text).toContain('Receivers say that its messages were forwarded.');
    expect(text).toMatch(/No signature no action forwarded, says the receiver 20 Failed/);
    expect(text).toContain('There is nothing to do.');
  });

  /** Signed and passing for weeks; the signature is broken on the last day. */
  async function aBrokenSource() {
    const { id, name: domain } = await aDomain(api.db, accountId);
    const send = (count: number, result: 'pass' | 'fail') =>
      aRecord({
        ...{ headerFrom: domain, sourceIp: MAILER, count, dkim: result },
        signatures: [aSignature({ domain, result })],
      });
    await receive(api.db, [
      aReportOf([send(5_994, 'pass')], { domain, begin: '2026-03-13T00:00:00Z' }),
      aReportOf([send(530, 'fail')], { domain, begin: '2026-03-14T00:00:00Z' }),
    ]);
    const place = `/settings/domains/${id}/sources/${MAILER}`;
    return (day: string) => read(`${place}?from=${day}&to=${day}`);
  }

  test('of days of which all fails does not say that there is nothing to do', async () => {
    const readDay = await aBrokenSource();
    const page = await readDay('2026-03-14');
    expect(page).toContain('0% of 530 messages passed DMARC');
    expect(page).toMatch(/What to do Fails The signature does not verify 530 messages/);
    expect(page).not.toContain('5,994');
    expect(page).not.toContain('There is nothing to do');
    expect(page).toContain('Whose mail is it? 13 Feb – 14 Mar 2026 mailer.example Yours');
  });

  test('says of which days its advice is where those that are shown pass', async () => {
    const readDay = await aBrokenSource();
    const page = await readDay('2026-03-13');
    expect(page).toContain('100% of 5,994 messages passed DMARC');
    expect(page).toMatch(/What to do 12 Feb – 13 Mar 2026 Passes .* 5,994 messages/);
  });

  test('does not call a result that fails unaligned', async () => {
    const { id, name: domain } = await aDomain(api.db, accountId);
    const record = aRecord({ headerFrom: domain, spfDomain: domain, spfResult: 'softfail' });
    await receive(api.db, [aReportOf([record], { domain })]);
    const page = await read(`/settings/domains/${id}/sources/${record.sourceIp}`);
    expect(page).toContain(`softfail ${domain} does not pass`);
    expect(page).not.toContain('not aligned');
    expect(page).toContain('SPF does not list this address');
    expect(page).toContain('On the way to p=reject it counts as ');
  });

  test('that is marked as legitimate is not said to send without permission', async () => {
    const { id, name: domain } = await aDomain(api.db, accountId);
    const [spf, dkim] = ['198.51.100.20', '198.51.100.21'];
    const signatures = [aSignature({ domain: 'reviews.example', result: 'pass' })];
    const records = [
      aRecord({ headerFrom: domain, sourceIp: spf, count: 40 }),
      aRecord({ headerFrom: domain, sourceIp: dkim, count: 40, spfResult: 'none', signatures }),
    ];
    await receive(api.db, [aReportOf(records, { domain })]);
    for (const address of [spf, dkim]) {
      const sources = `/settings/domains/${id}/sources`;
      const place = `${sources}/${address}`;
      await read(place);
      await browser.post(`${sources}/mark`, { subject: address, mark: 'legitimate' });
      const page = await read(place);
      expect(page).toMatch(/Fails (SPF|DKIM) passes for another domain/);
      expect(page).not.toMatch(/without your permission|if you use this service/);
      expect(page).toContain('it counts as Yours, failing');
      await browser.post(`${sources}/mark`, { subject: address, mark: 'none' });
      // The next page would have the notice.
      await read(place);
    }
  });

  test('takes names below a suffix of a company for names of strangers', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'one.github.io' });
    const record = aRecord({ headerFrom: 'one.github.io', spfDomain: 'two.github.io' });
    await receive(api.db, [aReportOf([record], { domain: 'one.github.io' })]);
    const text = await read(`/settings/domains/${id}/sources/${record.sourceIp}`);
    expect(text).toContain('SPF passes for another domain');
  });

  test('of an IPv6 address has its colons encoded in the path, in whatever form they come', async () => {
    const encoded = `${path}/2001%3Adb8%3A%3A25`;
    expect((await browser.get(`${path}?group=address&days=90`)).text).toContain(
      `href="${encoded}?days=90"`,
    );
    for (const form of ['2001:db8::25', '2001%3ADB8:0:0::25'])
      expect(await read(`${path}/${form}?days=90`)).toContain(`${V6} Seen on 1 Feb 2026.`);
    const text = await read(encoded);
    expect(text).toContain(
      'This address sent nothing in this range. Show 1 Feb 2026, when it was last seen',
    );
  });

  test('of an address that never sent anything says so; of no address is not found', async () => {
    expect(await read(`${path}/203.0.113.1`)).toContain(
      'This address sent nothing in the name of this domain',
    );
    for (const none of [
      'x',
      '192.0.2',
      '192.0.2.01',
      '192.0.2.1%25',
      '1.2.3.4%00',
      'fe80::1%25eth0',
    ])
      expect([none, (await browser.get(`${path}/${none}`)).status]).toEqual([none, 404]);
  });
});

describe('networks', () => {
  test('of the operator’s database are named, and group the sources', async () => {
    expect(await read(`${path}?group=address`)).toContain(
      `${MAILER} Not recognised out1.mailer.example · AS64501 Mailer Net · Germany`,
    );
    expect(await read(`${path}/${OWN}`)).toContain('mail.example.com · AS64500 Own Net · ');
    const grouped = await read(`${path}?group=network&days=90`);
    expect(grouped).toMatch(
      /3 networks .* AS64501 Mailer Net Not recognised since 10 Mar 2026 72 .* Not known Not recognised since 1 Feb 2026 1 .* AS64500 Own Net Yours since 14 Mar 2026 904/,
    );
    expect(await read(`${path}?group=network&within=AS64500`)).toContain(
      'All networks / AS64500 Own Net 1 address',
    );
  });

  test('are no choice without a database, nor organisations without names', async () => {
    const range = readRange(
      { originalUrl: '' } as never,
      { oldest: null, newest: null },
      new Date(),
    );
    const choice = {
      failingOnly: false,
      mark: undefined,
      group: undefined,
      within: undefined,
      page: 1,
    };
    const view = { path, range, choice } as never;
    const links = String(await renderFilters(view, {} as never));
    expect(links).toContain('Failing only');
    expect(links).toMatch(/Senders.*Addresses/s);
    expect(links).not.toMatch(/Networks|Organisations/);
  });

  test('of a file that is missing are an error at start', async () => {
    await expect(startApi({ store: api.store, ipDatabase: '/nowhere.mmdb' })).rejects.toThrow(
      /^PLUMBLINE_IP_DATABASE: \/nowhere\.mmdb cannot be read/,
    );
  });
});

describe('a mark', () => {
  test('is set by a person for the account, shown, filtered by, and taken away', async () => {
    const place = `${path}/${MAILER}`;
    expect(await read(place)).toContain('Nobody has marked it yet.');
    const mark = async (choice: string) => {
      const form = { subject: MAILER, mark: choice, return: place };
      const { status, headers } = await browser.post(`${path}/mark`, form);
      expect([status, headers['location']]).toEqual([303, place]);
      return await read(place);
    };
    expect((await browser.get(`${place}?days=90`)).text).toContain(
      `name="return" value="${place}?days=90"`,
    );
    const marked = await mark('legitimate');
    expect(marked).toContain(`${MAILER} is marked as legitimate.`);
    expect(marked).toMatch(/person-\d+@example\.com marked it as legitimate just now \./);
    expect(await read(`${path}?group=address`)).toContain(`${MAILER} Needs set-up Legitimate out1`);
    expect(await read(`${path}?group=address&mark=legitimate`)).toContain(
      '1 address, marked as legitimate ',
    );
    expect(await read(`${path}?mark=unmarked`)).not.toContain(MAILER);
    expect(await mark('unknown')).toContain('marked it as unknown');
    expect(await read(`${path}?group=address&mark=unknown`)).toContain(
      `${MAILER} Forged Unknown out1`,
    );
    expect(await read(path)).toMatch(/198\.51\.100\.7 Forged Unknown in this range since/);
    expect(await mark('none')).toContain('has no mark any more.');
    expect(await read(`${path}?mark=unknown`)).toContain('There is no such address in this range.');
  });

  test('of a sender is set above its addresses, holds for those that come later, and is undone in one click', async () => {
    const { id, name: domain } = await aDomain(api.db, accountId);
    const signatures = [aSignature({ domain: 'sendgrid.net', result: 'pass' })];
    const send = (sourceIp: string, day: string) => {
      const mail = { sourceIp, count: 40, headerFrom: domain, signatures, spfResult: 'none' };
      const record = aRecord(mail);
      return receive(api.db, [aReportOf([record], { domain, begin: `${day}T00:00:00Z` })]);
    };
    await send(MAILER, '2026-03-13');
    const list = `/settings/domains/${id}/sources`;
    const page = `${list}?within=service+Twilio+SendGrid&days=30`;
    const shown = await browser.get(page);
    const text = toReadable(shown.text);
    expect(text).toMatch(
      /Whose mail is it\? Twilio SendGrid transactional mail · signed by sendgrid\.net Needs set-up Its messages are authenticated as sendgrid\.net , not as d\d+\.example \. At Twilio SendGrid this is called domain authentication \. .* it counts as Yours, failing : .* Do you know this sender\? Nobody has marked it yet\. .* Yes: legitimate No: unknown .* All senders \/ Twilio SendGrid 1 address /,
    );
    /** What the button of that text sends, as a browser would. */
    const click = async (label: string) => {
      const { text: form } = await browser.get(page);
      const field = (field: string) =>
        new RegExp(`name="${field}" value="([^"]*)"`).exec(form)?.[1]?.replaceAll('&amp;', '&') ??
        '';
      const [, mark = ''] = new RegExp(`name="mark" value="(\\w+)"[^>]*>${label}`).exec(form) ?? [];
      const sent = { subject: field('subject'), return: field('return'), mark };
      const { status, headers } = await browser.post(`${list}/mark`, sent);
      expect([status, headers['location']]).toEqual([303, page]);
      return await read(page);
    };
    const marked = await click('No: unknown');
    expect(marked).toContain('Twilio SendGrid is marked as unknown.');
    expect(marked).toMatch(/Forged You said that it is not yours\. .* it counts as Not yours : /);
    expect(marked).toMatch(/person-\d+@example\.com marked it as unknown just now/);
    expect(marked).not.toContain('is called domain authentication');
    await send('198.51.100.99', '2026-03-14');
    expect(await read(page)).toMatch(/198\.51\.100\.99 Forged .* 40 0 40/);
    expect(await read(`${list}/198.51.100.99`)).toContain('You said that it is not yours.');
    expect(await read(list)).toMatch(/Twilio SendGrid Forged Unknown .* 80 0 80/);
    expect(await click('Take the mark away')).toMatch(
      /Needs set-up Its messages are authenticated/,
    );
    expect(await read(`${list}/198.51.100.99`)).toContain('Needs set-up');
  });

  test('of a sender leads back to the page that it was set on, in the range of the form', async () => {
    const subject = 'service Twilio SendGrid';
    const mark = async (fields: Record<string, string>) =>
      (await browser.post(`${path}/mark`, { subject, ...fields })).headers['location'];
    await browser.get(path);
    const page = `${path}?group=service&days=7`;
    expect(await mark({ mark: 'legitimate', return: page, days: '90' })).toBe(
      `${path}?group=service&days=90`,
    );
    expect(await read(page)).toContain('Twilio SendGrid is marked as legitimate.');
    expect(await mark({ mark: 'none', return: path.replace('/sources', '') })).toBe(
      path.replace('/sources', ''),
    );
    expect(await read(page)).toContain('Twilio SendGrid has no mark any more.');
  });

  test.each([
    ...['', '/settings/overview', 'https://elsewhere.example/', '//elsewhere.example/', 'x'],
    ...['/settings/domains/../account', '/settings/domains/00000000-0000-4000-8000-000000000000'],
  ])('leads to the list of sources where the form names the page %j', async (page) => {
    const form = { subject: MAILER, mark: 'none', return: page };
    expect((await browser.post(`${path}/mark`, form)).headers['location']).toBe(path);
    await browser.get(path);
  });

  test('is refused without the form’s token, from another site, and when there is no such mark', async () => {
    const place = `${path}/mark`;
    const unknown = { subject: MAILER, mark: 'unknown' };
    await browser.get(path.replace('/sources', ''));
    await browser.get(`${path}/${MAILER}`);
    const foreign = { 'Sec-Fetch-Site': 'cross-site' };
    expect((await browser.post(place, { ...unknown, form_token: '' })).status).toBe(403);
    expect((await browser.post(place, unknown, foreign)).status).toBe(403);
    for (const mark of ['', 'toString', 'x'])
      expect((await browser.post(place, { ...unknown, mark })).status).toBe(422);
    for (const subject of ['', 'x', 'service ', 'scattered addresses', '192.0.2.0/24'])
      expect((await browser.post(place, { ...unknown, subject })).status).toBe(422);
    expect(await api.db.selectFrom('source_mark').selectAll().execute()).toEqual([]);
  });
});

describe('the page of a domain', () => {
  test('shows eight senders that fail most, and leads to their addresses', async () => {
    const place = path.replace('/sources', '');
    const { text } = await browser.get(place);
    expect(toReadable(text)).toContain(
      'Whose messages would be stopped Sender Would be stopped mailer.example Not recognised 72 What',
    );
    expect(text).toContain(`href="${path}?days=30&amp;failing=1&amp;within=domain+mailer.example"`);
    const within = await read(`${path}?days=30&failing=1&within=domain+mailer.example`);
    expect(within).toMatch(
      /All senders \/ mailer\.example 1 address with failed messages .* 198\.51\.100\.7 Not recognised .* 72 0 72/,
    );
    const { id } = await aDomain(api.db, accountId, { name: 'many.example' });
    const many = Array.from({ length: 11 }, (_, i) =>
      aRecord({
        ...{ sourceIp: `198.18.${i}.1`, count: 10 * i + 200 },
        spfDomain: `sender-${i}.example`,
      }),
    );
    await receive(api.db, [aReportOf(many, { domain: 'many.example' })]);
    const page = await read(`/settings/domains/${id}`);
    expect(page).toMatch(
      /sender-10\.example Not recognised 300 .* sender-3\.example Not recognised 230 3 senders with fewer messages are not listed here\./,
    );
    expect(page).not.toContain('sender-2.example');
  });

  test('has alerts that link each address to its page, on the day of the alert', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'alerted.example' });
    const sources = [MAILER, V6, '<b>'].map((ip) => ({ ip, message_count: 30, failed_count: 30 }));
    const context = { message_count: 60, failed_count: 60, sources, additional_sources: 0 };
    const type = 'alert.new_failing_source';
    await anAlert(
      api.db,
      { accountId, domainId: id },
      { type, context: { day: '2026-03-14', ...context } },
    );
    const { text } = await browser.get(`/settings/domains/${id}`);
    const list = `/settings/domains/${id}/sources`;
    for (const address of [MAILER, '2001%3Adb8%3A%3A25'])
      expect(text).toContain(`href="${list}/${address}?from=2026-03-14&amp;to=2026-03-14"`);
    expect(toReadable(text)).toContain(`Look at ${MAILER} , ${V6} .`);
    expect((await browser.get(`${list}/${MAILER}?from=2026-03-14&to=2026-03-14`)).status).toBe(200);
  });
});

describe('text that reports, DNS and databases contain', () => {
  test('is escaped, bounded, and turns no other text around', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'hostile.example' });
    const signatures = [
      aSignature({ domain: HOSTILE, selector: HOSTILE, result: 'pass' }),
      aSignature({ selector: HOSTILE, result: HOSTILE }),
    ];
    const texts = { headerFrom: HOSTILE, spfDomain: HOSTILE, disposition: HOSTILE, signatures };
    const records = [
      aRecord({ sourceIp: EVIL, count: 5, ...texts }),
      aRecord({ sourceIp: EVIL, count: 4, ...texts, signatures: [], spfResult: HOSTILE }),
      aRecord({ sourceIp: EVIL, count: 3, ...texts, dkim: 'pass' }),
    ];
    await receive(api.db, [aReportOf(records, { orgName: HOSTILE, domain: 'hostile.example' })]);
    const expiresAt = '2030-01-01T00:00:00Z';
    await updateNames(api.db, { domainId: id, now: NOW }, [
      { address: EVIL, name: HOSTILE, expiresAt },
    ]);
    for (const place of [
      '',
      '?group=address',
      '?group=network',
      '?group=organisation',
      `/${EVIL}`,
    ]) {
      const { status, text } = await browser.get(`/settings/domains/${id}/sources${place}`);
      expect([place, status]).toEqual([place, 200]);
      expect(text).toContain('&lt;script&gt;alert');
      expect(text).not.toMatch(/<script>|[\u202a-\u202e\u2066-\u2069]/);
      expect(text).not.toContain('\u0007');
      expect(toReadable(text)).not.toMatch(/W{254}/);
    }
  });
});

describe('a long range', () => {
  const DAYS = ['2025-11-29', '2025-12-01', '2025-12-09', '2025-12-10', '2025-12-31'];
  const RANGE = '?from=2025-11-29&to=2026-01-05';

  async function aLongRange() {
    const domain = await aDomain(api.db, accountId);
    const of = (day: string, count: number) =>
      aReportOf(
        [
          aRecord({ sourceIp: MAILER, count, headerFrom: 'a.example' }),
          aRecord({ sourceIp: OWN, count: 3, ...PASSED }),
        ],
        { domain: domain.name, begin: `${day}T00:00:00Z` },
      );
    await receive(
      api.db,
      [...DAYS, '2026-01-02'].map((day) => of(day, 4)),
    );
    const place = `/settings/domains/${domain.id}/sources`;
    return { domain, of, see: (to: string) => read(`${place}${to}${RANGE}&group=address`) };
  }

  test.each(['', `/${MAILER}`])(
    'of sources%s has those of a day whose cache is damaged',
    async (to) => {
      const { domain, see } = await aLongRange();
      const before = await see(to);
      expect(before).toContain(
        to === '' ? '24 0 24 0.00% 0.00% 29 Nov 2025 – 2 Jan 2026' : 'of 24 messages',
      );
      await api.db.write(async (tx) => {
        const days = tx.updateTable('domain_day').set({ sources: Buffer.from('damaged') });
        const at = { domain_id: domain.id, day: '2025-12-09' };
        await days.where(({ and }) => and(at)).execute();
        // As after a change of its reports: the sums of the range are kept for a minute.
        const domains = tx.updateTable('domain').set({ reports_version: 'other' });
        await domains.where('id', '=', domain.id).execute();
      });
      expect(await see(to)).toBe(before);
    },
  );

  test('has a late report', async () => {
    const { of, see } = await aLongRange();
    await see('');
    await receive(api.db, [of('2025-12-09', 100)]);
    expect(await see('')).toContain('124 0 124');
  });
});

describe('the numbers', () => {
  test('of the list, of the groups, of the sources’ pages and of the domain agree', async () => {
    const numbers = (text: string) => Number(text.replaceAll(',', ''));
    const aSource = fc.record({
      host: fc.integer({ min: 1, max: 6 }),
      count: fc.integer({ min: 1, max: 5_000 }),
      spf: fc.constantFrom('pass', 'fail'),
      dkim: fc.constantFrom('pass', 'fail'),
      day: fc.integer({ min: 1, max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(aSource, { minLength: 1, maxLength: 20 }), async (sent) => {
        const domain = await aDomain(api.db, accountId);
        const reports = sent.map(({ host, day, ...record }) =>
          aReportOf([aRecord({ sourceIp: `192.0.2.${host}`, ...record } as never)], {
            ...{ domain: domain.name, begin: `2026-03-0${day}T00:00:00Z` },
          }),
        );
        await receive(api.db, reports);
        const range = '?from=2026-03-02&to=2026-03-08';
        const place = `/settings/domains/${domain.id}/sources`;
        const see = async (to: string) => toReadable((await browser.get(`${place}${to}`)).text);
        const inRange = sent.filter(({ day }) => day >= 2 && day <= 8);
        const messages = inRange.reduce((sum, { count }) => sum + count, 0);
        const text = await see(`${range}&group=address`);
        if (messages === 0) {
          expect(text).toContain('No report covers this range');
          return;
        }
        const ofDomain = await read(`/settings/domains/${domain.id}${range}`);
        expect(ofDomain).toContain(
          `% of ${messages === 1 ? '1 message' : `${messages.toLocaleString('en')} messages`} passed DMARC`,
        );
        expect(text).toContain(`, ${messages.toLocaleString('en')} message`);
        const listed = [
          ...text.matchAll(
            /(192\.0\.2\.\d) [\w -]+ AS64500 Own Net ([\d,]+) ([\d,]+) ([\d,]+) \d/g,
          ),
        ];
        const sums = [2, 3, 4].map((i) =>
          listed.reduce((sum, row) => sum + numbers(row[i] ?? ''), 0),
        );
        const passed = inRange
          .filter(({ spf, dkim }) => spf === 'pass' || dkim === 'pass')
          .reduce((sum, { count }) => sum + count, 0);
        expect(sums).toEqual([messages, passed, messages - passed]);
        const group = /Not known [\w -]+ since [\w ]+ 2026 ([\d,]+) ([\d,]+) ([\d,]+)/.exec(
          await see(`${range}&group=organisation`),
        );
        expect(group?.slice(1).map(numbers)).toEqual(sums);
        for (const [, address, count] of listed)
          expect(await see(`/${address}${range}`)).toMatch(
            new RegExp(`% of ${count} messages? passed DMARC`),
          );
      }),
      { numRuns: 5 },
    );
  });
});
