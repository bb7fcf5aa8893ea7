import { beforeAll, describe, expect, test } from 'vitest';
import { updateSenderRecords } from '../../src/store/alerts/daily-checks.ts';
import { type Api, startApi } from '../support/api.ts';
import {
  aBareAccount,
  aDomain,
  anAlert,
  aRecord,
  aReportOf,
  aSignature,
  receive,
} from '../support/builders.ts';
import { aSignedIn, type Browser, toReadable } from '../support/visitor.ts';

let api: Api;
let browser: Browser;

beforeAll(async () => {
  api = await startApi();
  const accountId = await aBareAccount(api.db);
  ({ browser } = await aSignedIn(api, accountId));
  const [one, two] = [
    await aDomain(api.db, accountId, { name: 'one.example' }),
    await aDomain(api.db, accountId, { name: 'two.example' }),
  ];
  const of = (domainId: string) => ({ accountId, domainId });
  await anAlert(api.db, of(one.id), {
    firedAt: '2026-03-01T00:00:00Z',
    resolvedAt: '2026-03-09T00:00:00Z',
  });
  await anAlert(api.db, of(two.id), { firedAt: '2026-03-02T23:59:59Z' });
  await anAlert(api.db, of(one.id), {
    ...{ type: 'alert.dns_record_changed', firedAt: '2026-03-03T00:00:00Z' },
    context: {
      record_type: 'spf',
      record_name: 'one.example',
      change: 'added',
      current_value: '=100%_x',
    },
  });
  return api.close;
});

/** Each alert's domain and first day, in the order of the page. */
async function listed(query: string): Promise<readonly string[]> {
  const { text } = await browser.get(`/settings/alerts${query}`);
  const rows =
    /class="name"><a [^>]*>(\w+)\.example<\/a><\/td>\s*<td [^>]*><time datetime="2026-03-0(\d)/g;
  return [...text.matchAll(rows)].map(([, domain, day]) => `${domain} ${day}`);
}

describe('the alerts of an account', () => {
  test.each([
    ['', ['one 3', 'two 2', 'one 1']],
    ['?state=open', ['one 3', 'two 2']],
    ['?state=resolved', ['one 1']],
    ['?from=2026-03-02&until=2026-03-02', ['two 2']],
    ['?q=TWO', ['two 2']],
    ['?q=100%25_X', ['one 3']],
    ['?q=1_0%25', []],
    ['?sort=domain&order=asc', ['one 3', 'one 1', 'two 2']],
    ['?sort=fired&order=asc', ['one 1', 'two 2', 'one 3']],
    ['?sort=type&order=desc&state=nonsense', ['one 3', 'two 2', 'one 1']],
    ['?page=2', []],
  ])('%s', async (query, wanted) => {
    expect(await listed(query)).toEqual(wanted);
  });

  test('are exported as they are shown', async () => {
    const { text } = await browser.get('/settings/alerts?state=open&sort=fired&order=asc');
    const [, link = ''] = /href="([^"]+)" download/.exec(text) ?? [];
    const file = await browser.download(link.replaceAll('&amp;', '&'));
    const [head, first, second, end] = file.text.split('\r\n');
    expect(head).toBe('\ufeffType,Domain,Fired (UTC),Resolved (UTC),What happened');
    expect(first).toMatch(/^Pass rate fell,two\.example,2026-03-02T23:59:59Z,,"The pass rate fell/);
    expect(second).toMatch(
      /^DNS record changed,one\.example,2026-03-03T00:00:00Z,,"?The spf record/,
    );
    expect(end).toBe('');
  });

  test('of another account are not shown', async () => {
    const other = await aSignedIn(api, await aBareAccount(api.db));
    const { text } = await other.browser.get('/settings/alerts');
    expect(toReadable(text)).toContain('No alert has fired yet.');
  });
});

test('an open alert says on the domain’s page who fails since its day, and shows these sources', async () => {
  const owner = await aBareAccount(api.db);
  const { id } = await aDomain(api.db, owner, { name: 'caused.example' });
  const aDay = (begin: string, count: number, result: 'pass' | 'fail') => {
    const signatures = [aSignature({ domain: 'caused.example', selector: 's1', result })];
    const own = aRecord({ sourceIp: '192.0.2.1', count, dkim: result, signatures });
    const other = aRecord({ sourceIp: '192.0.2.2', count: 90, spf: 'pass' });
    return aReportOf([own, other], { domain: 'caused.example', begin });
  };
  await receive(api.db, [
    aDay('2026-03-10T00:00:00Z', 500, 'pass'),
    aDay('2026-03-14T00:00:00Z', 60, 'fail'),
  ]);
  const cause = {
    ...{ sender: '192.0.2.1', service: null, source_ip: '192.0.2.1', selector: 's1' },
    ...{ message_count: 60, failed_count: 60, signing_domain: 'caused.example' },
  };
  const rates = { drop_pct: 40, prev_pass_rate: 100, curr_pass_rate: 60 };
  const context = { ...rates, day: '2026-03-14', cause };
  await anAlert(api.db, { accountId: owner, domainId: id }, { context });
  const { browser } = await aSignedIn(api, owner);
  const told =
    '192.0.2.1 stopped signing correctly on 14 Mar 2026 (selector s1): compare its key. The pass rate fell by 40 points';
  for (const path of ['overview', 'alerts'])
    expect(toReadable((await browser.get(`/settings/${path}`)).text)).toContain(told);
  const { text } = await browser.get(`/settings/domains/${id}`);
  // The next step says what the alert says first, and has its link: the card says neither twice.
  const said = '192.0.2.1 stopped signing correctly on 14 Mar 2026 (selector s1): compare its key.';
  expect(toReadable(text).split(said)).toHaveLength(2);
  expect(toReadable(text)).toContain(
    'Open alerts Open Pass rate fell The pass rate fell by 40 points',
  );
  expect(text.split('See who failed from')).toHaveLength(2);
  const contents = /<nav class="ranges contents".*?<\/nav>/s.exec(text)?.[0] ?? '';
  for (const [, anchor] of contents.matchAll(/href="#([^"]+)"/g))
    expect(text).toContain(`<h2 id="${anchor}">`);
  expect(contents).toContain('<a href="#traffic">Traffic</a>');
  const [, link = ''] = /href="([^"]+)">See who failed from/.exec(text) ?? [];
  const sources = toReadable((await browser.get(link.replaceAll('&amp;', '&'))).text);
  expect(sources).toMatch(/1 sender with failed messages .* mailer\.example .*60 0 60 0\.00%/);
  const alerts = (await browser.get('/settings/alerts')).text.replaceAll('&amp;', '&');
  expect(alerts).toContain(`/settings/domains/${id}/sources?failing=1&from=2026-03-14&to=`);
  // What daily checks have found of its key comes with the step, once two of them have.
  const found = { state: 'missing', bits: null, findings: [] } as const;
  const key = { domain: 'caused.example', selector: 's1', isProven: true, found };
  const check = { domainId: id, found: { spf: [], keys: [key] } };
  const fault = 's1._domainkey.caused.example has no key: ask who signs with it for it';
  for (const [at, isTold] of [
    ['2026-03-14T12:00:00Z', false],
    ['2026-03-15T12:00:00Z', true],
  ] as const) {
    await updateSenderRecords(api.db, { ...check, at });
    for (const path of ['overview', `domains/${id}`]) {
      const shown = toReadable((await browser.get(`/settings/${path}`)).text);
      expect(shown.includes(`${said} ${fault}`)).toBe(isTold);
      if (path !== 'overview') expect(shown.split(said)).toHaveLength(2);
    }
  }
});

test('an alert and its next step lead to the same days, also where these are before the newest thirty', async () => {
  const owner = await aBareAccount(api.db);
  const { id } = await aDomain(api.db, owner, { name: 'old.example' });
  const aDay = (begin: string, result: 'pass' | 'fail') => {
    const own = aRecord({ sourceIp: '192.0.2.1', count: 60, dkim: result });
    return aReportOf([own], { domain: 'old.example', begin });
  };
  await receive(api.db, [
    aDay('2026-01-09T00:00:00Z', 'pass'),
    aDay('2026-01-10T00:00:00Z', 'fail'),
    aDay('2026-03-14T00:00:00Z', 'fail'),
  ]);
  const context = { drop_pct: 100, prev_pass_rate: 100, curr_pass_rate: 0, day: '2026-01-10' };
  await anAlert(api.db, { accountId: owner, domainId: id }, { context });
  const { browser } = await aSignedIn(api, owner);
  const { text } = await browser.get(`/settings/domains/${id}`);
  const links = text.replaceAll('&amp;', '&').match(/sources\?failing=1&from=2026-01[^"]+/g);
  expect(new Set(links)).toEqual(new Set(['sources?failing=1&from=2026-01-10&to=2026-02-08']));
  const [step = ''] = /<h2 id="next">.*?<\/section>/s.exec(text) ?? [];
  expect(step.replaceAll('&amp;', '&')).toContain(
    'sources?failing=1&from=2026-01-10&to=2026-02-08">See who failed from 10 Jan 2026 on</a>',
  );
});

test('an alert of a new failing source names the service that sent', async () => {
  const owner = await aBareAccount(api.db);
  const { id } = await aDomain(api.db, owner, { name: 'new.example' });
  const signatures = [aSignature({ domain: 'sendgrid.net', result: 'pass' })];
  const [named, silent] = ['192.0.2.1', '192.0.2.2'];
  await receive(api.db, [
    aReportOf(
      [aRecord({ sourceIp: named, count: 30, signatures }), aRecord({ sourceIp: silent })],
      { domain: 'new.example', begin: '2026-03-14T00:00:00Z' },
    ),
  ]);
  const sources = [named, silent].map((ip) => {
    const service = ip === named ? 'Twilio SendGrid' : null;
    return { ip, message_count: 30, failed_count: 30, service };
  });
  const context = { message_count: 60, failed_count: 60, sources, additional_sources: 0 };
  await anAlert(
    api.db,
    { accountId: owner, domainId: id },
    { type: 'alert.new_failing_source', context: { day: '2026-03-14', ...context } },
  );
  const { browser } = await aSignedIn(api, owner);
  const { text } = await browser.get(`/settings/domains/${id}`);
  expect(toReadable(text)).toContain(`Look at ${named} (Twilio SendGrid), ${silent} .`);
  expect(text.replaceAll('&amp;', '&')).toContain(`${silent}?from=2026-03-14&to=2026-03-14"`);
});

test('what nobody says who is established stands apart, in words, where alerts are listed, and is not on the overview', async () => {
  const owner = await aBareAccount(api.db);
  const { id } = await aDomain(api.db, owner, { name: 'apart.example' });
  const doubt = { unauthenticated: true, unconfirmed: true };
  const context = { drop_pct: 40, prev_pass_rate: 100, curr_pass_rate: 60, ...doubt };
  await anAlert(api.db, { accountId: owner, domainId: id }, { context });
  const { browser } = await aSignedIn(api, owner);
  for (const path of [`domains/${id}`, 'alerts']) {
    const { text } = await browser.get(`/settings/${path}`);
    expect(toReadable(text)).toContain('Open, reported by nobody who is established');
    expect(text).not.toContain('badge warn">Open');
  }
  // It is no news of the overview, so that one forged mail does not change what a person sees first.
  expect(toReadable((await browser.get('/settings/overview')).text)).toContain('No alert is open.');
});
