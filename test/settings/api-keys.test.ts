import { beforeEach, describe, expect, test } from 'vitest';
import { insertApiKey, listApiKeys } from '../../src/store/accounts/api-keys.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { listAudit } from '../../src/store/events/audit.ts';
import { updatePlan } from '../../src/store/leaving/plan-change.ts';
import { type Api, serveApi } from '../support/api.ts';
import { aBareAccount, aKey, NOW } from '../support/builders.ts';
import { aDatabase } from '../support/store.ts';
import { aVisitor, type Browser, KEYS, toReadable } from '../support/visitor.ts';

let api: Api;
let accountId: string;
let browser: Browser;
let email: string;

beforeEach(async () => {
  api = await serveApi();
  accountId = await aBareAccount(api.db);
  ({ browser, email } = await aVisitor(api, accountId));
});

const keys = () => listApiKeys(api.db, accountId);
const use = async (key: string) => (await api.get('/v1/external/domains', { key })).status;
const toKey = (text: string) => /plb_live_[0-9A-Za-z]{36}/.exec(text)?.[0] as string;

describe('creating a key', () => {
  test('shows it whole in this answer, with a curl command that works, and on no later page', async () => {
    const { status, text } = await browser.post(KEYS, { name: ' Security dashboard ' });
    expect(status).toBe(200);
    const key = toKey(text);
    const read = toReadable(text);
    expect(read).toContain('it will not be shown again');
    expect(read).toContain(
      `curl -H "Authorization: Bearer ${key}" "http://127.0.0.1:${api.port}/v1/external/domains"`,
    );
    expect(await use(key)).toBe(200);
    for (const path of [KEYS, '/settings/audit', '/settings/overview']) {
      expect((await browser.get(path)).text).not.toContain(key.slice(0, 20));
    }
    expect(await keys()).toMatchObject([{ name: 'Security dashboard', prefix: key.slice(0, 13) }]);
    expect(JSON.stringify(api.logged)).not.toContain(key.slice(0, 20));
  });

  test.each([
    ['nothing', ''],
    ['blanks', '   '],
    ['101 characters', 'x'.repeat(101)],
    ['a control character', 'a\u0007b'],
  ])('%s is not a name: the form returns with the input and the error', async (_what, name) => {
    const { status, text } = await browser.post(KEYS, { name });
    expect(status).toBe(422);
    expect(text).toContain('aria-invalid="true"');
    expect(toReadable(text)).toContain('A key needs a name of 1 to 100 characters');
    expect(await keys()).toEqual([]);
  });

  test('with ten of ten keys the form is replaced by the reason', async () => {
    for (let i = 0; i < 10; i++) await aKey(api.db, accountId);
    const { text } = await browser.get(KEYS);
    expect(toReadable(text)).toContain('10 of 10 keys An account has at most 10 API keys');
    expect(text).not.toContain('id="name"');
    const { status, text: refused } = await browser.post(KEYS, { name: 'eleventh' });
    expect(status).toBe(409);
    expect(toReadable(refused)).toContain('Delete one to make room');
    expect(await keys()).toHaveLength(10);
  });

  test('twenty at the same time leave exactly ten, and ten entries in the audit', async () => {
    const attempts = Array.from({ length: 20 }, (_, i) => browser.post(KEYS, { name: `k${i}` }));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 409)).toHaveLength(10);
    expect(await keys()).toHaveLength(10);
    expect(await listAudit(api.db, accountId, { limit: 100, kind: 'key' })).toHaveLength(10);
  });
});

describe('the switch and delete', () => {
  test('off: 401 at once; on: accepted again; deleted: 401 from then on; each with one notice', async () => {
    const { key, keyId } = await aKey(api.db, accountId, 'nightly');
    const steps = [
      ['disable', 401, '“nightly” is off'],
      ['enable', 200, '“nightly” is on'],
      ['delete', 401, '“nightly” is deleted'],
    ] as const;
    for (const [verb, wanted, notice] of steps) {
      const { status, headers } = await browser.post(`${KEYS}/${keyId}/${verb}`);
      expect([status, headers['location']]).toEqual([303, KEYS]);
      expect(await use(key)).toBe(wanted);
      expect(toReadable((await browser.get(KEYS)).text)).toContain(notice);
      expect(toReadable((await browser.get(KEYS)).text)).not.toContain(notice);
    }
    expect((await browser.post(`${KEYS}/${keyId}/enable`)).status).toBe(404);
  });

  test('take effect in every process on the database', async () => {
    const path = await aDatabase();
    const one = await serveApi({ store: await openStore(path) });
    const other = await serveApi({ store: await openStore(path) });
    const account = await aBareAccount(one.db);
    const { browser: visitor } = await aVisitor(one, account);
    const key = toKey((await visitor.post(KEYS, { name: 'k' })).text);
    const [{ id = '' } = {}] = await listApiKeys(other.db, account);
    const ask = async () => (await other.get('/v1/external/domains', { key })).status;
    expect(await ask()).toBe(200);
    await visitor.post(`${KEYS}/${id}/disable`);
    expect(await ask()).toBe(401);
    await visitor.post(`${KEYS}/${id}/enable`);
    expect(await ask()).toBe(200);
    await visitor.post(`${KEYS}/${id}/delete`);
    expect(await ask()).toBe(401);
  });

  test('deleting asks first, with the key’s name', async () => {
    const { keyId } = await aKey(api.db, accountId, 'nightly');
    const { text } = await browser.get(`${KEYS}/${keyId}/delete`);
    expect(toReadable(text)).toContain('Delete “nightly”?');
    expect(await keys()).toHaveLength(1);
  });
});

describe('an account that is not on Pro', () => {
  test('sees what Pro adds and its disabled keys with the reason, and can neither create nor enable', async () => {
    const { key, keyId } = await aKey(api.db, accountId);
    await updatePlan(api.db, accountId, 'free');
    const { text } = await browser.get(KEYS);
    expect(toReadable(text)).toContain('The API is part of the Pro plan');
    expect(text).toMatch(/role="switch" aria-checked="false"[^>]* disabled/);
    expect(text).not.toContain('id="name"');
    expect((await browser.post(KEYS, { name: 'x' })).status).toBe(403);
    expect((await browser.post(`${KEYS}/${keyId}/enable`)).status).toBe(403);
    expect(await use(key)).toBe(401);
    await updatePlan(api.db, accountId, 'pro');
    expect(await keys()).toMatchObject([{ enabled: false }]);
    expect((await browser.get(KEYS)).text).not.toMatch(/role="switch"[^>]* disabled/);
    await browser.post(`${KEYS}/${keyId}/enable`);
    expect(await use(key)).toBe(200);
  });

  test('can still delete a key', async () => {
    const { keyId } = await aKey(api.db, accountId);
    await updatePlan(api.db, accountId, 'free');
    expect((await browser.post(`${KEYS}/${keyId}/delete`)).status).toBe(303);
    expect(await keys()).toEqual([]);
  });
});

describe('the audit', () => {
  test('shows who changed which key, when and from where, latest first', async () => {
    await browser.post(KEYS, { name: 'nightly' });
    const [{ id = '', prefix = '' } = {}] = await keys();
    await browser.post(`${KEYS}/${id}/disable`);
    await browser.post(`${KEYS}/${id}/disable`);
    await browser.post(`${KEYS}/${id}/enable`);
    await updatePlan(api.db, accountId, 'free');
    await browser.post(`${KEYS}/${id}/enable`);
    await browser.post(`${KEYS}/${id}/delete`);
    const entries = await listAudit(api.db, accountId, { limit: 100, kind: 'key' });
    expect(entries.map(({ action, actor, address }) => [action, actor, address])).toEqual([
      ['key_deleted', email, '127.0.0.1'],
      ['key_disabled_by_plan', 'operator', null],
      ['key_enabled', email, '127.0.0.1'],
      ['key_disabled', email, '127.0.0.1'],
      ['key_created', email, '127.0.0.1'],
    ]);
    for (const entry of entries) {
      expect(entry).toMatchObject({ subject: 'nightly', detail: prefix });
    }
    const read = toReadable((await browser.get('/settings/audit')).text);
    expect(read).toContain(`${email} deleted the key “nightly” ${prefix}…`);
    expect(read).toContain('The operator turned off, by leaving Pro, the key “nightly”');
  });

  test('rejected and failed changes leave no entry; each change leaves exactly one', async () => {
    const { keyId } = await aKey(api.db, accountId);
    await api.db.write((tx) => tx.schema.alterTable('audit').renameTo('gone').execute());
    expect((await browser.post(`${KEYS}/${keyId}/disable`)).status).toBe(500);
    expect((await browser.post(KEYS, { name: 'x' })).status).toBe(500);
    expect((await browser.post(`${KEYS}/${keyId}/delete`)).status).toBe(500);
    await api.db.write((tx) => tx.schema.alterTable('gone').renameTo('audit').execute());
    expect(await keys()).toMatchObject([{ id: keyId, enabled: true }]);
  });

  test('is shown page by page', async () => {
    for (let i = 0; i < 60; i++) {
      const { id } = await insertApiKey(api.db, { accountId, name: `k${i}`, now: NOW });
      await api.db.write((tx) => tx.deleteFrom('api_key').where('id', '=', id).execute());
    }
    const first = (await browser.get('/settings/audit?kind=key')).text;
    expect(first.match(/“k\d+”/g)).toHaveLength(50);
    const older = /href="(\/settings\/audit\?kind=key&amp;before=\d+)"/.exec(first)?.[1] as string;
    const second = (await browser.get(older.replaceAll('&amp;', '&'))).text;
    expect(second.match(/“k\d+”/g)).toHaveLength(10);
    expect(second).not.toContain('Older');
  });
});
