import { beforeEach, describe, expect, test } from 'vitest';
import { UNKNOWN_RECORD } from '../../src/domain/dns/dns-watch.ts';
import { addDays } from '../../src/domain/instant.ts';
import { updateDnsRecord } from '../../src/store/alerts/dns-records.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import type { Api } from '../support/api.ts';
import {
  aDomain,
  anAlert,
  aRecord,
  aReport,
  aReportOf,
  aSignature,
  NOW,
  receive,
  recordsOf,
} from '../support/builders.ts';
import { type Browser, onTestDay, toReadable } from '../support/visitor.ts';

let api: Api;
let accountId: string;
let browser: Browser;

beforeEach(async () => {
  ({ api, accountId, browser } = await onTestDay());
});

const read = async (path: string) => toReadable((await browser.get(path)).text);
const day = (begin: string, totalMessages: number, alignedMessages: number) =>
  aReport({ begin: `${begin}T00:00:00Z`, totalMessages, alignedMessages });

describe('the overview', () => {
  test('of an account without domains says what to do, and leads there', async () => {
    const { text } = await browser.get('/settings/overview');
    expect(toReadable(text)).toContain('No domain yet');
    expect(toReadable(text)).not.toContain('No alert is open');
    expect(text).toContain('<a href="/settings/account">this account’s id</a>');
  });

  test('lists active domains with thirty days of pass rate that end with the newest one', async () => {
    await aDomain(api.db, accountId, { name: 'example.com' });
    await aDomain(api.db, accountId, { name: 'silent.example' });
    const paused = await aDomain(api.db, accountId, { name: 'paused.example' });
    await updateDomainStatus(api.db, paused.id, 'paused');
    await receive(api.db, [
      day('2026-03-14', 90, 80),
      day('2026-02-13', 10, 0),
      // One day too old for the chart.
      day('2026-02-12', 1000, 0),
    ]);
    const { text } = await browser.get('/settings/overview');
    expect(toReadable(text)).toContain('Messages 100 Passed 80% Failed 20 Change in points +80');
    expect(toReadable(text)).toMatch(/example\.com 100 80\.00% \+80\.00 p=none 7 hours ago /);
    expect(toReadable(text)).toMatch(/silent\.example 0 – – – No report yet /);
    expect(text).not.toContain('paused.example');
    expect(text).toContain(
      'aria-label="Pass rate of example.com, 30 days: 80% of 100 messages passed"',
    );
    expect(text.match(/class="none"/g)).toHaveLength(28);
    expect(text).toContain('title="15 Mar 2026, 04:12:09 UTC"');
  });

  test('says of a domain whose reports are old when the newest one is of', async () => {
    await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [day('2024-06-12', 90, 80)]);
    expect(await read('/settings/overview')).toContain(
      'example.com 90 88.89% new p=none 7 hours ago of 12 Jun 2024 No report covers a day after 12 Jun 2024',
    );
  });

  test('says of which days its numbers are, where a domain’s own page ends with an older one', async () => {
    for (const name of ['example.com', 'older.example']) await aDomain(api.db, accountId, { name });
    const older = aReport({ domain: 'older.example', begin: '2026-03-10T00:00:00Z' });
    await receive(api.db, [day('2026-03-14', 90, 80), older]);
    expect(await read('/settings/overview')).toContain(
      'Numbers are of 13 Feb – 14 Mar 2026, for all domains. Next steps, and a domain’s own page, are of the 30 days up to its own newest report.',
    );
  });

  test('only all messages are 100%', async () => {
    await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [day('2026-03-14', 100_000, 99_999)]);
    expect(await read('/settings/overview')).toContain(' 99.99% ');
  });

  test('has one next step for each domain, with a link to where it is taken', async () => {
    const failing = await aDomain(api.db, accountId, { name: 'failing.example' });
    const alerted = await aDomain(api.db, accountId, { name: 'alerted.example' });
    await receive(api.db, [
      aReport({ domain: 'failing.example' }),
      aReport({ domain: 'alerted.example' }),
    ]);
    const type = 'alert.new_failing_source';
    const context = { message_count: 50, failed_count: 50, sources: [], additional_sources: 0 };
    await anAlert(api.db, { accountId, domainId: alerted.id }, { type, context });
    await anAlert(api.db, { accountId, domainId: failing.id }, { resolvedAt: NOW });
    const { text } = await browser.get('/settings/overview');
    expect(toReadable(text)).toContain('Wait for more reports:');
    expect(toReadable(text)).toContain('Addresses that are new here send mail that fails');
    expect(text).toContain(`<a href="/settings/domains/${alerted.id}/sources?failing=1">`);
  });

  test('follows the policy that a check of DNS has confirmed', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    const days = Array.from({ length: 30 }, (_, i) => addDays('2026-03-14', -i));
    await receive(
      api.db,
      days.map((begin) =>
        aReportOf([aRecord({ ...own, count: 100, signatures: [intact] })], {
          begin: `${begin}T00:00:00Z`,
        }),
      ),
    );
    const confirm = (value: string) =>
      updateDnsRecord(api.db, {
        ...{ domainId: id, at: NOW, type: 'dmarc' },
        update: () => ({ ...UNKNOWN_RECORD, confirmed: { value } }),
      });
    const pages = ['/settings/overview', `/settings/domains/${id}`];
    const steps = async () => await Promise.all(pages.map(read));
    // That of the reports, until DNS was checked.
    for (const text of await steps())
      expect(text).toContain('change p=none in the DMARC record to p=quarantine');
    await confirm('v=DMARC1; p=quarantine');
    for (const text of await steps())
      expect(text).toContain('change p=quarantine in the DMARC record to p=reject');
    await confirm('v=DMARC1; p=reject');
    for (const text of await steps())
      expect(text).toContain('Nothing to do: receivers are asked to reject mail that fails.');
    await confirm('v=DMARC1; p=reject; t=y; pct=50');
    for (const text of await steps())
      expect(text).toContain('remove t=y and pct=50 from the DMARC record, so that p=reject');
    await confirm('v=DMARC1; p=none\nv=DMARC1; p=reject');
    for (const text of await steps())
      expect(text).toContain('has several DMARC records at _dmarc.example.com');
  });

  test('shows internationalised names in Unicode beside their A-labels', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'xn--bcher-kva.example' });
    expect(await read('/settings/overview')).toContain(' bücher . example xn--bcher-kva.example ');
    const { text } = await browser.get(`/settings/domains/${id}`);
    expect(text).toContain('<title>bücher.example (xn--bcher-kva.example) · Plumbline</title>');
  });

  test('shows no name that is unclaimed, however much it looks like one of the account', async () => {
    await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [
      aReport({ domain: 'mail.example.com' }),
      aReport({ domain: 'examp1e.com' }),
    ]);
    const text = await read('/settings/overview');
    expect(text).not.toContain('mail.example.com');
    expect(text).not.toContain('examp1e.com');
  });

  test('open alerts come first, and resolved ones are not listed', async () => {
    const owner = { accountId, domainId: (await aDomain(api.db, accountId)).id };
    await anAlert(api.db, owner, { resolvedAt: NOW });
    expect(await read('/settings/overview')).toContain('No alert is open');
    await anAlert(api.db, owner);
    const text = await read('/settings/overview');
    expect(text).toContain('1 open alert');
    expect(text.indexOf('1 open alert')).toBeLessThan(text.indexOf('1 domain'));
  });

  const listNames = async (query = '') => {
    const { text } = await browser.get(`/settings/overview${query}`);
    return [...text.matchAll(/href="\/settings\/domains\/[0-9a-f-]{36}">([a-z]+)\.example/g)].map(
      ([, name]) => name,
    );
  };

  test('ranks domains by what needs a person first, and sorts and searches them', async () => {
    for (const name of ['alerted', 'better', 'calm', 'dead', 'worst'])
      await aDomain(api.db, accountId, { name: `${name}.example` });
    const { id } = await aDomain(api.db, accountId, { name: 'forged.example' });
    const days = Array.from({ length: 30 }, (_, i) => addDays('2026-03-14', -i));
    const of = (name: string, passed: number, failed: number, p = 'none') =>
      days.map((begin) => {
        const records = [
          ...recordsOf('192.0.2.1', passed, passed),
          refused('192.0.2.2', failed),
        ].filter(({ count }) => count > 0);
        const wanted = { begin: `${begin}T00:00:00Z`, policy: { p } };
        return aReportOf(records, { ...wanted, domain: `${name}.example` });
      });
    await receive(api.db, [
      ...[...of('better', 98, 2), ...of('worst', 64, 36), ...of('calm', 50, 50, 'reject')],
      ...[...of('alerted', 100, 0), ...of('forged', 200, 800, 'quarantine')],
    ]);
    const alerted = await api.db
      .selectFrom('domain')
      .select('id')
      .where('name', '=', 'alerted.example')
      .executeTakeFirstOrThrow();
    await anAlert(api.db, { accountId, domainId: alerted.id }, { context: { day: '2026-03-14' } });
    const ranked = ['alerted', 'forged', 'worst', 'better', 'dead', 'calm'];
    // The open alert names its domain too.
    expect(await listNames()).toEqual(['alerted', ...ranked]);
    const change = { domainId: id, subject: '192.0.2.2', mark: 'unknown' } as const;
    await updateMark(api.db, change, { accountId, name: 'somebody', at: NOW, address: null });
    expect((await listNames()).slice(1)).toEqual([
      'alerted',
      'worst',
      'better',
      'forged',
      'dead',
      'calm',
    ]);
    const rate = ['alerted', 'better', 'worst', 'calm', 'forged', 'dead'];
    expect(await listNames('?sort=rate&order=desc')).toEqual(rate);
    expect(await listNames('?sort=name&order=asc')).toEqual(ranked.toSorted());
    expect((await listNames('?sort=policy&order=desc'))[0]).toBe('calm');
    expect(await listNames('?q=ERT')).toEqual(['alerted']);
    expect(await read('/settings/overview?q=nothing%00')).toContain(
      'No domain of the account is here',
    );
    const { text } = await browser.get('/settings/overview');
    expect(text).toContain(
      `/settings/domains/${alerted.id}/sources?failing=1&amp;from=2026-03-14&amp;to=2026-03-15`,
    );
  });

  test('of many domains, those that need nothing are folded below the others, unless they are sorted or searched', async () => {
    for (let i = 0; i < 18; i++) await aDomain(api.db, accountId, { name: `waits-${i}.example` });
    await aDomain(api.db, accountId, { name: 'calm.example' });
    const days = Array.from({ length: 30 }, (_, i) => addDays('2026-03-14', -i));
    await receive(
      api.db,
      days.map((begin) =>
        aReportOf([aRecord({ ...own, count: 100, signatures: [intact] })], {
          ...{ begin: `${begin}T00:00:00Z`, policy: { p: 'reject' }, domain: 'calm.example' },
        }),
      ),
    );
    const few = await read('/settings/overview');
    expect(few).not.toMatch(/that needs? nothing|Search/);
    await aDomain(api.db, accountId, { name: 'waits-18.example' });
    const many = await read('/settings/overview');
    expect(many).toMatch(
      /20 domains Search .* 1 domain that needs nothing .*? calm\.example 3,000 /,
    );
    expect(many.match(/\.example (?:3,000|0) /g)).toHaveLength(20);
    for (const query of ['?sort=name&order=asc', '?q=example'])
      expect(await read(`/settings/overview${query}`)).not.toContain('that needs nothing');
  });

  test('many domains are shown page by page, each once', async () => {
    for (let i = 0; i < 60; i++) await aDomain(api.db, accountId);
    const pages = [
      await browser.get('/settings/overview'),
      await browser.get('/settings/overview?page=2'),
    ];
    const ids = pages.flatMap(({ text }) => [
      ...text.matchAll(/href="\/settings\/domains\/([0-9a-f-]{36})"/g),
    ]);
    expect(new Set(ids.map(([, id]) => id)).size).toBe(60);
    expect(ids).toHaveLength(60);
    expect(await read('/settings/overview?page=2')).toContain('Page 2 of 2');
    expect((await browser.get('/settings/overview?page=2')).text).toContain('class="find"');
    for (const page of ['0', '-1', 'x', '99999999999999999999']) {
      expect((await browser.get(`/settings/overview?page=${page}`)).status).toBe(200);
    }
  });
});

/** What SPF refuses, and nothing signs. */
const refused = (sourceIp: string, count: number) =>
  aRecord({ sourceIp, count, spfDomain: 'example.com', spfResult: 'fail' });

/** A signature of the owner's, as it was made and as a list leaves it. */
const intact = aSignature({ domain: 'example.com', result: 'pass' });
const broken = aSignature({ domain: 'example.com', result: 'fail' });
const own = { spfDomain: 'example.com', spf: 'pass', dkim: 'pass' } as const;

/** Addresses of as many networks. */
const scattered = (networks: number, count: number) =>
  Array.from({ length: networks }, (_, i) => refused(`198.18.${i}.7`, count));

describe('a domain’s page', () => {
  test('of a domain that others forge says that it can go to p=reject', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    const strangers = [...scattered(40, 1), refused('203.0.113.9', 20)];
    const records = [...recordsOf('192.0.2.1', 500, 500), ...strangers];
    const days = Array.from({ length: 40 }, (_, i) => addDays('2026-03-14', -i));
    const policy = { p: 'quarantine' };
    await receive(
      api.db,
      days.map((begin) => aReportOf(records, { begin: `${begin}T00:00:00Z`, policy })),
    );
    const path = `/settings/domains/${id}`;
    const before = await read(path);
    expect(before).toContain('Policy p=quarantine (by the reports of 14 Mar 2026)');
    expect(before).toContain(
      'Next step Do you know 203.0.113.9? All of its 600 messages fail. Mark it as legitimate or as unknown.',
    );
    expect(before).toContain('40 scattered addresses, likely one botnet Forged 40 sources 1,200');
    for (const [subject, mark] of [
      ['192.0.2.1', 'legitimate'],
      ['203.0.113.9', 'unknown'],
    ] as const) {
      const change = { domainId: id, subject, mark };
      await updateMark(api.db, change, { accountId, name: 'somebody', at: NOW, address: null });
    }
    const after = await read(path);
    expect(after).toContain(
      'Yes, if these are not yours. It would stop: 1,200 messages that nothing shows to be yours : 40 scattered addresses, likely one botnet (1,200)',
    );
    expect(after).toContain('change p=quarantine in the DMARC record to p=reject');
    expect(after).toContain('messages that failed: no action (1,800)');
    expect(after).toContain('Who reported failures');
    expect(after).toContain('203.0.113.9 Forged 600');
  });

  test('says that a range ends before it begins', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [aReportOf(recordsOf('192.0.2.1', 5, 5))]);
    expect(await read(`/settings/domains/${id}?from=2026-03-14&to=2026-03-01`)).toContain(
      'The range ends before it begins: these are 30 days.',
    );
  });

  test('takes seven hundred addresses of a botnet for one sender', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    const forgers = Array.from({ length: 700 }, (_, i) =>
      refused(`198.${18 + (i >> 8)}.${i & 255}.7`, 10),
    );
    await receive(api.db, [aReportOf([...recordsOf('192.0.2.1', 900, 900), ...forgers])]);
    const page = await read(`/settings/domains/${id}`);
    expect(page).not.toContain('Not recognised nothing shows');
    expect(page).toMatch(/Probably not yours [^;]*; 700 sources 7,000 0\.00% 7,000 /);
    expect(page).toContain('700 scattered addresses, likely one botnet Forged');
  });

  test('of a botnet with more addresses than a day keeps says yes, if these are not yours, by one row', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    const bots = Array.from({ length: 2_800 }, (_, i) =>
      refused(`198.${18 + (i >> 8)}.${i & 255}.7`, 1),
    );
    const records = [aRecord({ ...own, sourceIp: '192.0.2.1', count: 900 }), ...bots];
    const policy = { p: 'quarantine' };
    for (let i = 0; i < 30; i += 1)
      await receive(api.db, [
        aReportOf(records, { begin: `${addDays('2026-03-14', -i)}T00:00:00Z`, policy }),
      ]);
    const page = await read(`/settings/domains/${id}`);
    expect(page).toContain(
      'Yes, if these are not yours. It would stop: 84,000 messages that nothing shows to be yours',
    );
    expect(page).toContain(
      'change p=quarantine in the DMARC record to p=reject, if 84,000 messages from 999 scattered addresses that failed',
    );
    expect(page).toMatch(
      /Would be stopped 999 scattered addresses, likely one botnet Forged 999 sources 29,970 What/,
    );
    const list = `/settings/domains/${id}/sources?days=30&failing=1`;
    const linked = await read(`${list}&standing=stranger`);
    expect(linked).toMatch(/Probably not yours \(.*\): 84,000 messages from 999 sources failed/);
    expect(linked).toContain(
      '54,030 messages of this range came from addresses that are not listed',
    );
    expect(await read(`${list}&within=scattered`)).toMatch(
      /999 scattered addresses, likely one botnet Forged .* Yes: legitimate No: unknown .* 999 addresses with/,
    );
  });

  /** A report that nobody authenticated; it is disputed in the name of a reporter that was authenticated before. */
  const unproven = (claimed: string) => ({ authenticated: '', claimed: [claimed] });

  test('shows apart what reporters say who are not established, as the sources and the overview do', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    const send = (count: number, sender = {}) =>
      receive(
        api.db,
        [aReportOf([aRecord({ ...own, count, sourceIp: '192.0.2.1' })])],
        NOW,
        sender,
      );
    await send(100);
    const places = ['', '/sources'].map((place) => `/settings/domains/${id}${place}`);
    const readAll = () => Promise.all([...places, '/settings/overview'].map(read));
    const before = await readAll();
    for (const page of before) expect(page).not.toMatch(/set aside|established/);
    await send(33_000_000, unproven('stranger.example'));
    const one =
      ' 1 report with 33,000,000 messages is set aside and changes nothing here: its reporter is not authenticated or not established yet. See the reports';
    const shown = await readAll();
    // The list of the latest reports has all of them.
    const cut = (page: string) => page.replace(/Latest reports .*/, '');
    for (const [i, page] of shown.entries()) {
      expect(page).toContain(one);
      expect(cut(page.replace(one, ''))).toBe(cut(before[i] ?? ''));
    }
    await send(5, unproven('stranger.example'));
    for (const page of await readAll())
      expect(page).toContain(
        '2 reports with 33,000,005 messages are set aside and change nothing here: their reporters are not authenticated or not established yet.',
      );
    const { text } = await browser.get(places[0] ?? '');
    expect(text).toContain(`href="/settings/domains/${id}/reports?days=30">See the reports</a>`);
  });

  test('says that all reports count where no reporter is established, as the sources and the overview do', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await aDomain(api.db, accountId, { name: 'other.example' });
    const send = (domain: string, sender = {}) =>
      receive(api.db, [aReportOf([aRecord(own)], { domain })], NOW, sender);
    await send('other.example', { authenticated: 'google.com' });
    await send('example.com', unproven('stranger.example'));
    await send('example.com', unproven('google.com'));
    const all =
      'No established reporter has sent reports in 30 days, so all reports count but disputed ones. 1 disputed report with 1 message is set aside and changes nothing here.';
    for (const place of ['', '/sources'])
      expect(await read(`/settings/domains/${id}${place}`)).toContain(all);
    expect(await read('/settings/overview')).toContain(
      'No established reporter of 1 domain has sent reports in 30 days, so all reports count there but disputed ones.',
    );
  });

  test('says how many failures are missing where addresses are not kept', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    const forgers = Array.from({ length: 1_100 }, (_, i) =>
      aRecord({ sourceIp: `198.18.${i >> 8}.${i & 255}`, spfDomain: 'forger.example' }),
    );
    await receive(api.db, [aReportOf([...recordsOf('192.0.2.1', 900, 900), ...forgers])]);
    const page = await read(`/settings/domains/${id}`);
    const missing = '101 failed messages are missing here: of addresses that are not listed';
    expect(page.split(missing)).toHaveLength(3);
    expect(page).toMatch(/Who reported failures [^;]* 1,899 999 /);
  });

  test('waits for no mark on what others pass on, and says that it would be stopped', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    const records = [
      aRecord({ ...own, count: 500, signatures: [intact] }),
      aRecord({
        ...{ sourceIp: '198.51.100.7', count: 20, spf: 'fail', dkim: 'fail' },
        ...{ signatures: [broken], spfDomain: 'list.example.net', spfResult: 'pass' },
        reasons: [{ type: 'mailing_list', comment: null }],
      }),
    ];
    const days = Array.from({ length: 30 }, (_, i) => addDays('2026-03-14', -i));
    await receive(
      api.db,
      days.map((begin) => aReportOf(records, { begin: `${begin}T00:00:00Z` })),
    );
    const page = await read(`/settings/domains/${id}`);
    expect(page).toContain(
      'Can I go to p=reject? Yes, by p=quarantine first. It would stop: 600 messages that others passed on',
    );
    expect(page).toContain('1 source 600 0.00% 600');
  });

  test('names the services whose messages failed', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    const signatures = [aSignature({ domain: 'sendgrid.net', result: 'pass' })];
    const failing = aRecord({
      ...{ sourceIp: '203.0.113.9', count: 20, signatures },
      spfResult: 'none',
    });
    await receive(api.db, [aReportOf([failing], { begin: '2026-03-14T00:00:00Z' })]);
    const page = await read(`/settings/domains/${id}`);
    expect(page).toContain('Sender Would be stopped Twilio SendGrid Needs set-up 20');
    expect(page).toContain(
      'Next step Twilio SendGrid sends mail of this domain as itself: all of its 20 messages fail.',
    );
  });

  test('tells what is passed on and who is not recognised apart among those whose messages fail', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    const failing = { spf: 'fail', dkim: 'fail' } as const;
    await receive(api.db, [
      aReportOf(
        [
          aRecord({ ...own, count: 500, signatures: [intact] }),
          aRecord({
            ...{ ...failing, sourceIp: '198.51.100.7', count: 30, signatures: [broken] },
            ...{ spfDomain: 'list.example.net', spfResult: 'pass' },
            reasons: [{ type: 'mailing_list', comment: null }],
          }),
          aRecord({
            ...{ ...failing, sourceIp: '203.0.113.9', count: 20, signatures: [] },
            ...{ spfDomain: 'forger.example', spfResult: 'pass' },
          }),
          refused('203.0.113.10', 5),
          refused('203.0.113.11', 4),
        ],
        { begin: '2026-03-14T00:00:00Z' },
      ),
    ]);
    expect(await read(`/settings/domains/${id}`)).toContain(
      'Whose messages would be stopped Sender Would be stopped example.net Passed on 30 forger.example Not recognised 20 203.0.113.10 Not recognised 5 203.0.113.11 Not recognised 4',
    );
  });

  test('has charts of its days, and the same as a table', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [day('2026-03-13', 50, 50), day('2026-03-14', 100, 25)]);
    const { text } = await browser.get(`/settings/domains/${id}`);
    expect(toReadable(text)).toContain('50% of 150 messages passed DMARC');
    expect(toReadable(text)).toContain(
      'Day Messages Failed Pass rate Sat 14 Mar 2026 100 75 25.00% Fri 13 Mar 2026 50 0 100.00%',
    );
    // Thirty columns end on the 14th; the line goes from all passed to a quarter.
    expect(text).toContain('d="M28.5,0L29.5,75"');
    expect(text).toContain('aria-label="Pass rate by day; in all 50% of 150 messages passed"');
    expect(text).toContain('aria-label="Messages by day; in all 150 messages, 75 failed"');
  });

  test('days without reports are gaps in the line', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [day('2026-03-10', 10, 10), day('2026-03-14', 10, 10)]);
    expect((await browser.get(`/settings/domains/${id}`)).text).toContain('d="M25.5,0ZM29.5,0Z"');
  });

  test('90 days include what 30 days do not, and end with the newest day', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [day('2025-12-01', 7, 7), day('2026-01-11', 2, 2)]);
    const messages = async (query: string) =>
      /of ([\d,]+) messages passed DMARC/.exec(await read(`/settings/domains/${id}?${query}`))?.[1];
    expect([
      await messages('days=30'),
      await messages('days=90'),
      await messages('days=x'),
      await messages('from=2025-12-01&to=2025-12-01'),
    ]).toEqual(['2', '9', '2', '7']);
    expect(await read(`/settings/domains/${id}?days=x`)).toContain('“x” is no range');
  });

  test('a range without reports says where there are some', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [day('2024-06-12', 7, 7)]);
    const { text } = await browser.get(`/settings/domains/${id}?from=2026-01-01&to=2026-01-31`);
    expect(toReadable(text)).toContain(
      'No report covers this range; the newest is of 12 Jun 2024. Show the 31 days up to then',
    );
    expect(text).toContain(`href="/settings/domains/${id}?from=2024-05-13&amp;to=2024-06-12"`);
    expect(text).not.toContain('data-chart');
  });

  test('marks where alerts fired and resolved, and says so in words', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [day('2026-03-10', 10, 10), day('2026-03-14', 10, 5)]);
    const owner = { accountId, domainId: id };
    await anAlert(api.db, owner, {
      ...{ firedAt: '2026-03-11T04:00:00Z', resolvedAt: '2026-03-14T04:00:00Z' },
      context: { day: '2026-03-10' },
    });
    const { text } = await browser.get(`/settings/domains/${id}`);
    expect(toReadable(text)).toContain(
      'Pass rate fell : about Tue 10 Mar 2026, fired Wed 11 Mar 2026, resolved Sat 14 Mar 2026',
    );
    expect(text).toContain('<circle class="mark fired" cx="85%" cy="0%" r="0.55em"/>');
    expect(text).toContain('<circle class="mark resolved" cx="98.33%" cy="100%" r="0.55em"/>');
  });

  test('has no table of zeros without reports', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'silent.example' });
    const page = await read(`/settings/domains/${id}`);
    expect(page).toContain('Wait for more reports: no message is known to be yours yet.');
    expect(page).not.toContain('Would be stopped');
  });

  test('marks where the policy changed, and says by what it is known', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'steps.example' });
    const send = (day: string, p: string) => {
      const begin = `2026-03-${day}T00:00:00Z`;
      return receive(api.db, [aReportOf([], { domain: 'steps.example', begin, policy: { p } })]);
    };
    for (const day of ['01', '02', '03', '09']) await send(day, 'none');
    for (const day of ['06', '07', '08', '10', '11', '12', '13', '14'])
      await send(day, 'quarantine');
    const values = {
      previous_value: 'v=DMARC1; p=quarantine',
      current_value: 'v=DMARC1; p=reject',
    };
    const context = { record_type: 'dmarc', ...values };
    const firedAt = '2026-03-14T10:00:00Z';
    await anAlert(
      api.db,
      { accountId, domainId: id },
      { type: 'alert.dns_record_changed', firedAt, context },
    );
    const [reported, seen] = [
      'Policy: p=none → p=quarantine, Fri 6 Mar 2026 (seen in reports)',
      'Policy: p=quarantine → p=reject, Sat 14 Mar 2026 (seen in DNS)',
    ];
    const { text } = await browser.get(`/settings/domains/${id}`);
    expect(toReadable(text)).toContain(` ${reported} ${seen} Show these numbers`);
    expect(text.split(`<title>${reported}</title>`)).toHaveLength(3);
    const later = await read(`/settings/domains/${id}?days=7`);
    expect(later).not.toContain(reported);
    expect(later).toContain(seen);
  });

  test('shows an open alert, however many have fired and resolved since', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    const owner = { accountId, domainId: id };
    await anAlert(api.db, owner, { firedAt: '2026-01-01T04:00:00Z' });
    for (let i = 0; i < 12; i++) {
      const type = 'alert.new_failing_source';
      await anAlert(api.db, owner, { type, context: {}, resolvedAt: NOW });
    }
    const text = await read(`/settings/domains/${id}`);
    expect(text).toContain('Open alerts Open Pass rate fell');
    expect(text).toContain('10 alerts that resolved, of the latest 10');
  });

  test('leads to its sources and reports in the same range', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    for (const page of ['', '/sources', '/reports']) {
      const { text } = await browser.get(`/settings/domains/${id}${page}?days=90`);
      for (const other of ['', '/sources', '/reports'])
        expect(text).toContain(
          `href="/settings/domains/${id}${other}?days=90" ${other === page ? 'aria-current="page"' : ''}`,
        );
    }
  });

  test('marks alerts that lasted into the range, however long ago they fired', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [day('2025-04-01', 10, 10), day('2026-03-14', 10, 5)]);
    const owner = { accountId, domainId: id };
    const fired = (firedAt: string, resolvedAt?: string) =>
      anAlert(api.db, owner, { firedAt, resolvedAt, context: {} });
    await fired('2025-05-01T04:00:00Z', '2025-05-20T04:00:00Z');
    await fired('2025-06-02T04:00:00Z', '2026-03-01T04:00:00Z');
    await fired('2025-07-03T04:00:00Z');
    const list = async (days: number) =>
      (await read(`/settings/domains/${id}?days=${days}`)).match(/: fired \w+ \d+ \w+ \d+/g);
    expect(await list(30)).toEqual([': fired Mon 2 Jun 2025', ': fired Thu 3 Jul 2025']);
    expect(await list(365)).toEqual([
      ': fired Thu 1 May 2025',
      ': fired Mon 2 Jun 2025',
      ': fired Thu 3 Jul 2025',
    ]);
  });

  test('text of reporters changes nothing around it', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    const names = ['<b>\u202egro.liam</b>', `${'x'.repeat(5000)}`, 'A\u200bB\u0000C'];
    await receive(
      api.db,
      names.map((orgName) => aReport({ orgName })),
    );
    const { text } = await browser.get(`/settings/domains/${id}`);
    expect(text).toContain('<bdi>&lt;b&gt;\ufffdgro.liam&lt;/b&gt;</bdi>');
    expect(text).toContain('<bdi>A\ufffdB\ufffdC</bdi>');
    expect(text).toContain(`<bdi>${'x'.repeat(79)}…</bdi>`);
    expect(text).not.toContain('\u202e');
  });

  test('lists its latest reports, of any reporter', async () => {
    const { id } = await aDomain(api.db, accountId, { name: 'example.com' });
    await receive(api.db, [aReport({ orgName: null }), aReport({ orgName: 'Mailbox Provider' })]);
    const text = await read(`/settings/domains/${id}`);
    expect(text).toContain('All of 2 reports.');
    expect(text).toContain('Mailbox Provider 14 Mar 2026 10 3 70.00%');
    expect(text).toContain('provider.example 14 Mar 2026');
  });

  test('of a paused domain stays readable', async () => {
    const { id } = await aDomain(api.db, accountId, { status: 'paused' });
    expect(await read(`/settings/domains/${id}`)).toContain('Paused');
  });
});

/** Of each type: its context, and the words for it. */
const ALERTS: readonly (readonly [string, Record<string, unknown>, string])[] = [
  [
    'alert.alignment_regression',
    { drop_pct: 31.37, prev_pass_rate: 98.04, curr_pass_rate: 66.67 },
    'Pass rate fell The pass rate fell by 31.37 points, from 98.04% to 66.67%.',
  ],
  [
    'alert.alignment_regression',
    {
      drop_pct: 20,
      prev_pass_rate: 99,
      curr_pass_rate: 79,
      day: '2026-03-14',
      message_count: 1200,
      failed_count: 252,
    },
    'from 99% to 79%. 252 of 1,200 messages failed on 14 Mar 2026.',
  ],
  [
    'alert.reports_missing',
    {
      last_report_at: '2026-03-11T04:00:00Z',
      hours_since_last_report: 72,
      previous_daily_average: 3.5,
    },
    'No report for 72 hours; before, 3.5 came on an average day. The last one came on 11 Mar 2026, 04:00:00 UTC.',
  ],
  [
    'alert.new_failing_source',
    {
      message_count: 250,
      failed_count: 240,
      sources: [{ ip: '203.0.113.9', message_count: 250, failed_count: 240 }],
      additional_sources: 2,
    },
    '203.0.113.9 and 2 more sources sent 250 messages from addresses not seen before, of which 240 failed. Mark them as legitimate or as unknown. Sources: 203.0.113.9 (240 failed), 2 more.',
  ],
  [
    'alert.dns_record_changed',
    {
      record_type: 'TXT',
      record_name: '_dmarc.example.com',
      change: 'removed',
      previous_value: 'v=DMARC1; p=reject',
      current_value: null,
    },
    'The TXT record at _dmarc.example.com was removed. It was: v=DMARC1; p=reject',
  ],
  [
    'alert.policy_weakened',
    { previous_policy: 'reject', current_policy: 'none', record_name: '_dmarc.example.com' },
    'The policy at _dmarc.example.com went from reject to none.',
  ],
  ['alert.of_tomorrow', { weather: 'fine' }, 'alert.of_tomorrow weather: "fine"'],
];

test('alerts of each type are told in words', async () => {
  for (const [type, context, words] of ALERTS) {
    const { id } = await aDomain(api.db, accountId);
    await anAlert(api.db, { accountId, domainId: id }, { type, context });
    expect(await read(`/settings/domains/${id}`), type).toContain(words);
  }
});
