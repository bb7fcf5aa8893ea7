import { beforeAll, describe, expect, test } from 'vitest';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { insertAudit, operator } from '../../src/store/events/audit.ts';
import { updatePlan } from '../../src/store/leaving/plan-change.ts';
import { type Api, startApi } from '../support/api.ts';
import { aBareAccount, aDomain, aKey, anAlert, NOW } from '../support/builders.ts';
import { aSignedIn, type Browser, toReadable } from '../support/visitor.ts';

let api: Api;
let accountId: string;
let email: string;
let browser: Browser;

beforeAll(async () => {
  api = await startApi();
  accountId = await aBareAccount(api.db);
  ({ browser, email } = await aSignedIn(api, accountId));
  const { id: domainId } = await aDomain(api.db, accountId, { name: 'audited.example' });
  await anAlert(api.db, { accountId, domainId }, { resolvedAt: '2026-03-16T00:00:00Z' });
  await updateDomainStatus(api.db, domainId, 'paused', '2026-03-17T23:59:59Z');
  await updatePlan(api.db, accountId, 'free');
  return api.close;
});

const read = async (query = '') => toReadable((await browser.get(`/settings/audit${query}`)).text);

describe('the audit', () => {
  test('has what was done to the account, its people, domains, plan and alerts, with exact times', async () => {
    const page = await read();
    for (const words of [
      'The operator created the account “Example” (Pro)',
      `The operator added “${email}” (owner)`,
      'The operator added the domain “audited.example”',
      'Plumbline fired an alert of “audited.example” : Pass rate fell',
      'Plumbline resolved an alert of “audited.example” : Pass rate fell',
      '17 Mar 2026, 23:59:59 UTC The operator paused the domain “audited.example” by command',
      'The operator changed the plan of “Example” (Free)',
    ])
      expect(page.replaceAll(' ”', '”').replaceAll('“ ', '“').replaceAll('” :', '” :')).toContain(
        words,
      );
  });

  test.each([
    ['?kind=domain', ['paused the domain', 'added the domain']],
    ['?kind=alert', ['resolved an alert', 'fired an alert']],
    ['?actor=plumbline', ['resolved an alert', 'fired an alert']],
    ['?from=2026-03-16&until=2026-03-17', ['paused the domain', 'resolved an alert']],
    ['?until=2026-03-16&kind=alert', ['resolved an alert', 'fired an alert']],
    ['?until=2026-03-15&kind=alert', ['fired an alert']],
  ])('%s shows that only, latest first', async (query, wanted) => {
    const { text } = await browser.get(`/settings/audit${query}`);
    const verbs = text.match(/(paused|added|resolved|fired|changed|created) (an?|the) \w+/g);
    expect(verbs).toEqual(wanted);
  });

  test.each([
    ['?q=AUDITED.example&kind=domain', ['paused the domain', 'added the domain']],
    ['?q=100%25', null],
    ['?q=__', null],
  ])('%s finds what contains the text, whatever its case', async (query, wanted) => {
    const { text } = await browser.get(`/settings/audit${query}`);
    expect(text.match(/(paused|added|resolved|fired|changed|created) (an?|the) \w+/g)).toEqual(
      wanted,
    );
  });

  test('is exported as it is shown, all its pages', async () => {
    const long = await aBareAccount(api.db);
    const visitor = await aSignedIn(api, long);
    const entry = { account_id: long, at: NOW, actor: 'operator', detail: '=1', address: null };
    const rows = Array.from({ length: 600 }, (_, i) => ({
      ...entry,
      ...({ action: 'source_marked', subject: `s${i}` } as const),
    }));
    await api.db.write((tx) => tx.insertInto('audit').values(rows).execute());
    const { text, headers } = await visitor.browser.download('/settings/audit/csv?kind=source&q=s');
    expect(headers['content-disposition']).toBe('attachment; filename="audit.csv"');
    const lines = text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(601);
    expect(lines[1]).toBe(`${NOW},The operator,marked the source,s599,'=1,`);
    const page = await visitor.browser.get('/settings/audit?kind=source&q=s');
    expect(page.text).toContain('href="/settings/audit/csv?kind=source&amp;q=s" download');
  });

  test('a filter looks at ten thousand entries, and leads on behind them', async () => {
    const long = await aBareAccount(api.db);
    const visitor = await aSignedIn(api, long);
    const entry = { account_id: long, at: NOW, actor: 'operator', address: null, detail: '' };
    const row = { ...entry, action: 'source_marked', subject: 'x' } as const;
    for (let i = 0; i < 10; i++)
      await api.db.write((tx) =>
        tx
          .insertInto('audit')
          .values(Array.from({ length: 1_000 }, () => row))
          .execute(),
      );
    const first = await visitor.browser.get('/settings/audit?kind=account');
    expect(toReadable(first.text)).toContain('Nothing that fits in this part of the audit.');
    const [, next = ''] = /href="([^"]+)" rel="next">Search further back</.exec(first.text) ?? [];
    const second = await visitor.browser.get(next.replaceAll('&amp;', '&'));
    expect(toReadable(second.text)).toContain('created the account');
    expect(second.text).not.toContain('rel="next"');
    const all = await visitor.browser.get('/settings/audit?kind=source');
    expect(all.text).toContain('rel="next">Older<');
  });

  test('an unknown value of a filter is left out, and text of people does nothing', async () => {
    expect(await read('?kind=nonsense&from=2026-99-99')).toContain('created the account');
    const { text } = await browser.get('/settings/audit?actor=%22%3E%3Cscript%3E');
    expect(text).not.toContain('"><script>');
    expect(toReadable(text)).toContain('Nothing that fits.');
  });

  test('a subject with controls of direction reorders nothing', async () => {
    const entry = { action: 'source_marked', subject: '\u202eevil', detail: 'known' } as const;
    await api.db.write((tx) => insertAudit(tx, operator(NOW), { accountId, ...entry }));
    const { text } = await browser.get('/settings/audit?kind=source');
    expect(text).not.toContain('\u202e');
    expect(text).toContain('<bdi>“\ufffdevil”</bdi>');
  });

  test('another account’s entries are not shown', async () => {
    const other = await aBareAccount(api.db);
    await aKey(api.db, other, 'of another account');
    expect(await read()).not.toContain('of another account');
  });
});
