import { beforeEach, describe, expect, test } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { type Api, serveApi } from '../support/api.ts';
import { aBareAccount } from '../support/builders.ts';
import { aDatabase } from '../support/store.ts';
import { aVisitor, Browser, toReadable } from '../support/visitor.ts';

let api: Api;
let accountId: string;
let isBusy: boolean;

/** A database whose write lock another process holds for longer than a write waits. */
beforeEach(async () => {
  isBusy = false;
  const store = await openStore(await aDatabase());
  const write: typeof store.db.write = async (change) => {
    if (isBusy) throw new Failure('unavailable', 'The database is busy.');
    return await store.db.write(change);
  };
  api = await serveApi({ store: { ...store, db: { ...store.db, write } } });
  accountId = await aBareAccount(api.db);
});

const isIn = async (browser: Browser) => (await browser.get('/settings/account')).status === 200;

describe('while the write lock is not available', () => {
  test('a sign-out that did not end the session says so, and keeps the cookie', async () => {
    const { browser } = await aVisitor(api, accountId);
    isBusy = true;
    const { status, headers, text } = await browser.post('/settings/sign-out');
    expect([status, headers['retry-after'], headers['set-cookie']]).toEqual([503, '5', undefined]);
    expect(toReadable(text)).toContain('You are still signed in');
    expect(await isIn(browser)).toBe(true);
    isBusy = false;
    expect((await browser.post('/settings/sign-out')).status).toBe(303);
    expect(await isIn(browser)).toBe(false);
  });

  test('sessions that could not be ended are not reported as ended', async () => {
    const { browser, email } = await aVisitor(api, accountId);
    const other = new Browser(api);
    await other.signIn(email);
    const { text } = await browser.get('/settings/security');
    const end = /action="(\/settings\/security\/sessions\/[0-9a-f-]{36})"/.exec(text)?.[1];
    isBusy = true;
    for (const path of [end as string, '/settings/security/sessions/others']) {
      const answer = await browser.post(path);
      expect(answer.status).toBe(503);
      expect(toReadable(answer.text)).toContain('No session was ended');
    }
    expect(await isIn(other)).toBe(true);
  });

  test('a sign-in is rejected with 503, and opens no session', async () => {
    const { email } = await aVisitor(api, accountId);
    isBusy = true;
    const { status, headers } = await new Browser(api).signIn(email);
    expect([status, headers['set-cookie']]).toEqual([503, undefined]);
  });

  test('pages are shown without waiting for a write', async () => {
    const { browser } = await aVisitor(api, accountId);
    const seen = new Date().toISOString().replace(/T.*/, 'T00:00:00Z');
    await api.db.write((tx) =>
      tx.updateTable('session').set({ last_seen_at: seen, notice: 'It is done.' }).execute(),
    );
    isBusy = true;
    const { status, text } = await browser.get('/settings/overview');
    expect([status, toReadable(text)]).toEqual([200, expect.stringContaining('It is done.')]);
  });
});
