import { describe, expect, test } from 'vitest';
import { insertAccount } from '../../src/store/accounts/accounts.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { startApi } from '../support/api.ts';
import { aBareAccount, aDomain, anAccount, aReport, NOW, receive } from '../support/builders.ts';
import { listMiscounts } from '../support/recount.ts';
import { openTestStore } from '../support/store.ts';
import { aVisitor, Browser, KEYS } from '../support/visitor.ts';

/** What PostgreSQL cannot store as it is, and SQLite can; or what is large. */
const TEXTS: readonly (readonly [what: string, text: string])[] = [
  ['U+0000', 'a\0b'],
  ['U+0000 only', '\0'],
  ['a lone high surrogate', 'a\ud800b'],
  ['a lone low surrogate', 'a\udfffb'],
  ['a noncharacter', 'a\uffff\u{10ffff}b'],
  ['the end of a text', "'; drop table report; --"],
  ['words of LIKE and of arrays', '%_\\{}"$1?'],
  ['10 MB', 'x'.repeat(10_000_000)],
];

/** Runs the same on both engines and returns both outcomes. */
async function onBoth<T>(run: (store: Store) => Promise<T>): Promise<[sqlite: T, postgres: T]> {
  const outcomes: T[] = [];
  for (const open of [() => openStore(':memory:'), openTestStore]) {
    const store = await open();
    try {
      outcomes.push(await run(store));
    } finally {
      await store.close();
    }
  }
  return outcomes as [T, T];
}

const codeOf = (error: { code?: string }) => error.code ?? 'a defect';

describe.each(TEXTS)('%s, with the same outcome on both engines', (_what, text) => {
  test('as the name of an account', async () => {
    const [sqlite, postgres] = await onBoth(({ db }) =>
      insertAccount(db, { name: text, plan: 'pro', now: NOW }).then(({ name }) => name, codeOf),
    );
    expect(postgres).toEqual(sqlite);
    expect(postgres).not.toBe('a defect');
  });

  test('in every field of a report: it is stored, listed and counted', async () => {
    const [sqlite, postgres] = await onBoth(async (store) => {
      const api = await startApi({ store: { ...store, close: async () => {} } });
      const { id, key } = await anAccount(store.db);
      const { id: domainId } = await aDomain(store.db, id, { name: 'example.com' });
      const report = aReport({ orgName: text, email: text, reportId: text });
      const outcomes = await receive(store.db, [report, report]);
      // The contract bounds what intake has cut, which the store is not asked to do.
      const ask = text.length > 1_000 ? api.send : api.get;
      const { status, body } = await ask(`/v1/external/domains/${domainId}/reports`, { key });
      await api.close();
      const [{ reporter_org, reporter_email } = {} as Record<string, string>] = body.data;
      const isWhole = [reporter_org, reporter_email].map((field) => field?.length === text.length);
      return { outcomes, status, isWhole, miscounts: await listMiscounts(store.db) };
    });
    expect(postgres).toEqual(sqlite);
    expect(postgres).toMatchObject({
      outcomes: ['stored', 'duplicate'],
      status: 200,
      miscounts: {},
    });
  });

  test('in the forms of the settings pages, and in addresses: no 500', async () => {
    const [sqlite, postgres] = await onBoth(async (store) => {
      const api = await startApi({ store: { ...store, close: async () => {} } });
      const { browser, email } = await aVisitor(api, await aBareAccount(store.db));
      const stranger = new Browser(api);
      const statuses = [
        (await stranger.signIn(text)).status,
        (await stranger.signIn(email, text)).status,
        (await browser.post(KEYS, { name: text })).status,
        (await browser.get('/settings/account', { 'User-Agent': 'a' })).status,
      ];
      await api.close();
      return statuses;
    });
    expect(postgres).toEqual(sqlite);
    expect(Math.max(...postgres)).toBeLessThan(500);
  });
});

test.each(['%00', 'a%00b', '%ED%A0%80', '%F4%90%80%80', '%FF'])(
  '%s in a path and in parameters is 404 or 422, never 500',
  async (text) => {
    const store = await openTestStore();
    const api = await startApi({ store });
    const { key } = await anAccount(store.db);
    for (const path of [
      `/v1/external/domains/${text}/reports`,
      `/v1/external/domains?limit=${text}`,
      `/v1/external/alerts?domain_id=${text}`,
      `/v1/external/alerts?changed_after=${text}`,
    ]) {
      const { status } = await api.get(path, { key });
      expect([400, 404, 422], path).toContain(status);
    }
    const { status } = await new Browser(api).get(`/settings/sign-in?${text}`);
    expect(status).toBeLessThan(500);
    await api.close();
  },
);
