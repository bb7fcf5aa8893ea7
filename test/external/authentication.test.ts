import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { deleteApiKey, listApiKeys, updateApiKey } from '../../src/store/accounts/api-keys.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Store } from '../../src/store/engine/store.ts';
import { updatePlan } from '../../src/store/leaving/plan-change.ts';
import { type Api, serveApi, startApi } from '../support/api.ts';
import { aKey, anAccount, NOW, type TestAccount } from '../support/builders.ts';
import { listPaths } from '../support/contract-document.ts';
import { aDatabase, aStore } from '../support/store.ts';

const PATH = '/v1/external/domains';
const PATHS = listPaths({
  domain_id: '0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e',
  report_id: '5b9f3d24-7a51-8c0e-9a57-2f5a0f6f8b3d',
  tls_report_id: '8a4c0d52-1b7e-8f21-9d3c-7e5b2a90c614',
});
const REFUSED = { error: { code: 'unauthorized', message: 'Missing or invalid API key.' } };

/** A key with valid format and checksum that does not exist. */
const STRANGERS = 'plb_live_1111111111111111111111111111110g6EZO';

describe('401', () => {
  let api: Api;
  let account: TestAccount;
  beforeAll(async () => {
    api = await startApi();
    account = await anAccount(api.db);
    return api.close;
  });

  test.each<[string, (key: string) => string | undefined]>([
    ['no header', () => undefined],
    ['an empty header', () => ''],
    ['the scheme alone', () => 'Bearer'],
    ['the scheme and a blank', () => 'Bearer '],
    ['the key alone', (key) => key],
    ['another scheme', (key) => `Basic ${key}`],
    ['a word that only begins with the scheme', (key) => `Bearers ${key}`],
    ['no blank between', (key) => `Bearer${key}`],
    ['a tab between', (key) => `Bearer\t${key}`],
    ['something after the key', (key) => `Bearer ${key} x`],
    ['a comma after the key', (key) => `Bearer ${key},`],
    ['the key twice', (key) => `Bearer ${key}${key}`],
    ['two keys in a list', (key) => `Bearer ${key}, Bearer ${key}`],
    ['the key in quotes', (key) => `Bearer "${key}"`],
    ['one character less', (key) => `Bearer ${key.slice(0, -1)}`],
    ['one character more', (key) => `Bearer ${key}0`],
    ['the key in upper case', (key) => `Bearer ${key.toUpperCase()}`],
    ['another prefix', (key) => `Bearer ${key.replace('live', 'next')}`],
    ['an unknown key', () => `Bearer ${STRANGERS}`],
    ['another word', () => 'Bearer x'],
    ['8,000 characters', () => `Bearer ${'x'.repeat(8_000)}`],
    ["the key's hash", () => `Bearer ${'a'.repeat(64)}`],
  ])('%s', async (_what, toHeader) => {
    const header = toHeader(account.key);
    const headers: Record<string, string> = header === undefined ? {} : { Authorization: header };
    for (const path of PATHS) {
      const { status, body, headers: answered } = await api.get(path, { headers });
      expect([status, body]).toEqual([401, REFUSED]);
      expect(answered['www-authenticate']).toBe('Bearer');
    }
  });

  test('a key in the query, a cookie or another header is ignored', async () => {
    const { key } = account;
    for (const name of ['api_key', 'key', 'access_token', 'Authorization', 'token']) {
      expect((await api.get(`${PATH}?${name}=${key}`)).status).toBe(401);
      expect((await api.get(`${PATH}?${name}=Bearer%20${key}`)).status).toBe(401);
    }
    const headers = { 'X-Api-Key': key, Cookie: `api_key=${key}`, 'Proxy-Authorization': key };
    expect((await api.get(PATH, { headers })).status).toBe(401);
  });

  test('the same body and headers for every cause', async () => {
    const disabled = await aKey(api.db, account.id);
    await updateApiKey(api.db, disabled.keyId, false);
    const deleted = await aKey(api.db, account.id);
    await deleteApiKey(api.db, deleted.keyId);
    const free = await anAccount(api.db);
    await updatePlan(api.db, free.id, 'free');
    const keys = [undefined, 'x', STRANGERS, disabled.key, deleted.key, free.key];
    const answers = [];
    for (const key of keys) {
      const { status, text, headers } = await api.get(PATH, { key });
      const { date: _date, ratelimit: _ratelimit, 'x-request-id': _id, ...rest } = headers;
      answers.push(JSON.stringify([status, text, rest]));
    }
    expect(new Set(answers).size).toBe(1);
  });

  test.each(['bearer', 'BEARER', 'bEaReR'])(
    'the scheme is case-insensitive: %s',
    async (scheme) => {
      const headers = { Authorization: `${scheme} ${account.key}` };
      expect((await api.get(PATH, { headers })).status).toBe(200);
    },
  );

  test('several blanks before the key are allowed (RFC 9110, 11.4: 1*SP)', async () => {
    const headers = { Authorization: `Bearer   ${account.key}` };
    expect((await api.get(PATH, { headers })).status).toBe(200);
  });

  test('a valid header is enough, whatever the query says', async () => {
    expect((await api.get(`${PATH}?api_key=${STRANGERS}`, { key: account.key })).status).toBe(200);
  });
});

describe('the states of a key (description, 3.3), each from the next request on', () => {
  let api: Api;
  let account: TestAccount;
  beforeEach(async () => {
    api = await serveApi();
    account = await anAccount(api.db);
  });
  const status = async (key = account.key) => {
    const statuses = new Set<number>();
    for (const path of PATHS.filter((path) => !path.includes('domains/'))) {
      statuses.add((await api.get(path, { key })).status);
    }
    expect(statuses.size).toBe(1);
    return [...statuses][0];
  };

  test('enabled → disabled → enabled', async () => {
    expect(await status()).toBe(200);
    await updateApiKey(api.db, account.keyId, false);
    expect(await status()).toBe(401);
    await updateApiKey(api.db, account.keyId, true);
    expect(await status()).toBe(200);
  });

  test('enabled → deleted, for good', async () => {
    expect(await status()).toBe(200);
    await deleteApiKey(api.db, account.keyId);
    expect(await status()).toBe(401);
    await expect(updateApiKey(api.db, account.keyId, true)).rejects.toThrow(/No API key/);
    expect(await status()).toBe(401);
  });

  test('disabled → deleted', async () => {
    await updateApiKey(api.db, account.keyId, false);
    await deleteApiKey(api.db, account.keyId);
    expect(await status()).toBe(401);
  });

  test('disabling or deleting one key does not affect the others', async () => {
    const { key, keyId } = await aKey(api.db, account.id);
    await updateApiKey(api.db, account.keyId, false);
    expect(await status(key)).toBe(200);
    await deleteApiKey(api.db, account.keyId);
    expect(await status(key)).toBe(200);
    await deleteApiKey(api.db, keyId);
    expect(await status(key)).toBe(401);
  });

  test('leaving Pro disables all of the account’s keys, and no others', async () => {
    const second = await aKey(api.db, account.id);
    const theirs = await anAccount(api.db);
    await updatePlan(api.db, account.id, 'free');
    expect([await status(), await status(second.key), await status(theirs.key)]).toEqual([
      401, 401, 200,
    ]);
  });

  test('returning to Pro leaves them disabled until the user enables them', async () => {
    await updatePlan(api.db, account.id, 'free');
    await updatePlan(api.db, account.id, 'pro');
    expect(await status()).toBe(401);
    await updateApiKey(api.db, account.keyId, true);
    expect(await status()).toBe(200);
  });

  test('an enabled key of an account that is not on Pro is not accepted', async () => {
    await api.db.write((tx) => tx.updateTable('account').set({ plan: 'free' }).execute());
    const [key] = await listApiKeys(api.db, account.id);
    expect(key?.enabled).toBe(true);
    expect(await status()).toBe(401);
  });

  test('a known entity tag does not help with a disabled key', async () => {
    const { etag } = (await api.get(PATH, { key: account.key })).headers;
    await updateApiKey(api.db, account.keyId, false);
    const headers = { 'If-None-Match': etag as string };
    expect((await api.get(PATH, { key: account.key, headers })).status).toBe(401);
  });
});

describe('requests of one connection', () => {
  /** The statuses of requests that one connection sends, one after another. */
  async function askTogether(port: number, keys: readonly (() => Promise<string | undefined>)[]) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const statuses: (number | undefined)[] = [];
    const isReused: boolean[] = [];
    for (const toKey of keys) {
      const key = await toKey();
      const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
      const req = request({ agent, port, path: PATH, headers }).end();
      const [answer] = (await once(req, 'response')) as [IncomingMessage];
      await buffer(answer);
      statuses.push(answer.statusCode);
      isReused.push(req.reusedSocket);
    }
    expect(isReused).toEqual(keys.map((_key, i) => i > 0));
    return statuses;
  }

  test('each has a key of its own', async () => {
    const api = await serveApi();
    const [mine, theirs] = [await anAccount(api.db), await anAccount(api.db)];
    await updateApiKey(api.db, theirs.keyId, false);
    const sent = [mine.key, theirs.key, mine.key, undefined, mine.key, STRANGERS, mine.key, 'x'];
    const statuses = await askTogether(
      api.port,
      sent.map((key) => async () => key),
    );
    expect(statuses).toEqual([200, 401, 200, 401, 200, 401, 200, 401]);
  });

  test('a key that another process disables and enables', async () => {
    const database = await aDatabase();
    const api = await serveApi({ store: await openStore(database) });
    const { key, keyId } = await anAccount(api.db);
    const other = await openStore(database);
    const keyWhen = (isEnabled: boolean) => async () => {
      await updateApiKey(other.db, keyId, isEnabled);
      return key;
    };
    const statuses = await askTogether(api.port, [
      async () => key,
      async () => key,
      keyWhen(false),
      async () => key,
      keyWhen(true),
    ]);
    await other.close();
    expect(statuses).toEqual([200, 200, 401, 401, 200]);
  });
});

describe('last_used_at', () => {
  /** Only `Date` is faked; the write happens in real time. */
  const at = (instant: string) => vi.setSystemTime(new Date(instant));
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    at(NOW);
    return () => void vi.useRealTimers();
  });

  async function serveKey(store?: Store) {
    const api = await serveApi(store && { store });
    const { id, key, keyId } = await anAccount(api.db);
    const ask = () => api.get(PATH, { key });
    const lastUsedAt = async () => (await listApiKeys(api.db, id))[0]?.lastUsedAt;
    return { ...api, key, keyId, ask, lastUsedAt };
  }

  test('is null before the first use, and is not written before the answer', async () => {
    const { ask, lastUsedAt, flush } = await serveKey();
    expect(await lastUsedAt()).toBeNull();
    await ask();
    expect(await lastUsedAt()).toBeNull();
    await flush();
    expect(await lastUsedAt()).toBe(NOW);
  });

  test('is written without further requests', async () => {
    const { ask, lastUsedAt } = await serveKey();
    await ask();
    await expect.poll(lastUsedAt).toBe(NOW);
  });

  test('is written at most once a minute', async () => {
    const { ask, lastUsedAt, flush } = await serveKey();
    const usedAt = async (instant: string) => {
      at(instant);
      await ask();
      await flush();
      return await lastUsedAt();
    };
    expect(await usedAt('2026-03-15T12:00:00Z')).toBe('2026-03-15T12:00:00Z');
    expect(await usedAt('2026-03-15T12:00:59Z')).toBe('2026-03-15T12:00:00Z');
    expect(await usedAt('2026-03-15T12:01:00Z')).toBe('2026-03-15T12:01:00Z');
  });

  test('is written once when two processes have seen the same key in one minute', async () => {
    const store = await aStore();
    const { key, ask, lastUsedAt, flush } = await serveKey(store);
    const other = await serveApi({ store });
    await ask();
    at('2026-03-15T04:12:10Z');
    await other.get(PATH, { key });
    await flush();
    await other.flush();
    expect(await lastUsedAt()).toBe(NOW);
  });

  test('uses during a write are not written again', async () => {
    // In a file and on PostgreSQL, reads do not wait for writes: the read returns the former state.
    const { ask, lastUsedAt, flush, db } = await serveKey(await openStore(await aDatabase()));
    await ask();
    const release = Promise.withResolvers<void>();
    const busy = db.write(() => release.promise);
    const writing = flush();
    at('2026-03-15T04:12:19Z');
    await ask();
    release.resolve();
    await Promise.all([busy, writing]);
    await flush();
    expect(await lastUsedAt()).toBe(NOW);
  });

  test('a rejected key does not count as used', async () => {
    const { key, keyId, db, get, lastUsedAt, flush } = await serveKey();
    await updateApiKey(db, keyId, false);
    await get(PATH, { key });
    await flush();
    expect(await lastUsedAt()).toBeNull();
  });
});
