import { beforeAll, describe, expect, test } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { aBareAccount, aDomain, anAlert } from '../support/builders.ts';
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
    expect(first).toMatch(
      /^Alignment regression,two\.example,2026-03-02T23:59:59Z,,"The pass rate fell/,
    );
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
