import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../src/store/engine/store.ts';
import { type Api, copyContract, serveApi, startApi } from '../support/api.ts';
import { aDomain, anAccount, aReport, receive, type TestAccount } from '../support/builders.ts';

let api: Api;
let account: TestAccount;
/** A path with a page larger than a packet, and one with a smaller page. */
let long: string;
let short: string;

beforeAll(async () => {
  api = await startApi();
  account = await anAccount(api.db);
  const domain = await aDomain(api.db, account.id, { name: 'example.com' });
  await receive(
    api.db,
    Array.from({ length: 60 }, () => aReport()),
  );
  [long, short] = [`/v1/external/domains/${domain.id}/reports`, '/v1/external/domains'];
  return api.close;
});

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  api.get(path, { key: account.key, headers, method });

describe('200', () => {
  test('carries a weak ETag, Cache-Control: private, no-cache and Vary: Authorization', async () => {
    for (const path of [long, short, '/v1/external/alerts']) {
      const { headers } = await ask(path);
      expect(headers['etag']).toMatch(/^W\/"[^"]+"$/);
      expect(headers['cache-control']).toBe('private, no-cache');
      expect(headers['vary']?.split(', ')).toContain('Authorization');
    }
  });

  test('a body ends with a line feed, for display on a terminal', async () => {
    expect((await ask(short)).text).toMatch(/\}\n$/);
  });

  test('the same list has the same bytes and the same ETag', async () => {
    const [a, b] = [await ask(long), await ask(long)];
    expect([b.text, b.headers['etag']]).toEqual([a.text, a.headers['etag']]);
  });
});

describe('If-None-Match', () => {
  /** Tags are compared weakly (RFC 9110, 13.1.2); `ETAG` stands for the list's own opaque tag. */
  test.each([
    ['W/ETAG', 304],
    ['ETAG', 304],
    ['*', 304],
    [' * ', 304],
    ['W/"other", W/ETAG', 304],
    ['"a","b",ETAG,"c"', 304],
    [', ,W/ETAG, ', 304],
    ['W/"with, comma", W/ETAG', 304],
    ['W/"other"', 200],
    ['"', 200],
    ['""', 200],
    ['', 200],
    ['W/', 200],
    ['**', 200],
    ['"*"', 200],
    ['garbage', 200],
    ['0', 200],
    [`${'"x",'.repeat(1_900)}"y"`, 200],
  ])('%s: %i', async (value, status) => {
    const etag = (await ask(long)).headers['etag']?.slice(2) as string;
    const answer = await ask(long, { 'If-None-Match': value.replaceAll('ETAG', etag) });
    expect(answer.status).toBe(status);
    expect(answer.headers['etag']).toBe(`W/${etag}`);
  });

  test('the opaque tag without its quotes is not an entity tag', async () => {
    const etag = (await ask(long)).headers['etag']?.slice(3, -1) as string;
    expect((await ask(long, { 'If-None-Match': etag })).status).toBe(200);
  });

  test('the tag of one list does not match another', async () => {
    const { etag } = (await ask(long)).headers;
    expect((await ask(short, { 'If-None-Match': etag as string })).status).toBe(200);
  });

  test('If-Modified-Since alone has no effect', async () => {
    const headers = { 'If-Modified-Since': 'Fri, 01 Jan 2100 00:00:00 GMT' };
    expect((await ask(short, headers)).status).toBe(200);
  });

  test('an invalid request is never a 304', async () => {
    expect((await ask(`${short}?limit=0`, { 'If-None-Match': '*' })).status).toBe(422);
    expect((await ask('/v1/external/nothing', { 'If-None-Match': '*' })).status).toBe(404);
    expect((await ask(short, { 'If-None-Match': '*' }, 'POST')).status).toBe(405);
  });
});

describe('the ETag and the page of one list', () => {
  test('every page has the same tag, which matches for every page', async () => {
    const { etag } = (await ask(`${long}?limit=1`)).headers;
    const headers = { 'If-None-Match': etag as string };
    expect((await ask(`${long}?limit=200&offset=7`, headers)).status).toBe(304);
  });

  test('a cached page is never another page, nor that of another state', async () => {
    const { db, get } = await serveApi();
    const { id, key } = await anAccount(db);
    const { id: domainId, name } = await aDomain(db, id);
    const path = `/v1/external/domains/${domainId}/reports`;
    const count = async (query: string) => {
      const { body } = await get(`${path}${query}`, { key });
      return [body.data.length, body.total];
    };
    await receive(db, [aReport({ domain: name }), aReport({ domain: name })]);
    expect(await count('?limit=1')).toEqual([1, 2]);
    expect(await count('?limit=2')).toEqual([2, 2]);
    expect(await count('?limit=2&offset=1')).toEqual([1, 2]);
    await receive(db, [aReport({ domain: name })]);
    expect(await count('?limit=2&offset=1')).toEqual([2, 3]);
    expect(await count('?limit=1')).toEqual([1, 3]);
  });

  test('without a page cache, answers are the same', async () => {
    const { db, get } = await serveApi({ pageCacheBytes: 0 });
    const { id, key } = await anAccount(db);
    await aDomain(db, id);
    const [a, b] = [await get(short, { key }), await get(short, { key })];
    expect([a.status, b.text, b.headers['etag']]).toEqual([200, a.text, a.headers['etag']]);
  });
});

describe('the ETag and the schema of the answer', () => {
  type Schema = { description?: string; properties: Record<string, unknown> };

  /** The tags of a list and of reports, from a server with a changed contract. */
  async function tagsWith(store: Store, change: (schemas: Record<string, Schema>) => void) {
    const document = await copyContract();
    change(document.components?.schemas as unknown as Record<string, Schema>);
    const other = await startApi({ store: { ...store, close: async () => undefined }, document });
    const tags: Record<string, string | undefined> = {};
    for (const path of [short, long, '/v1/external/alerts']) {
      const { headers } = await other.send(path, { key: account.key });
      tags[path] = headers['etag'];
    }
    await other.close();
    return tags;
  }

  test('a client with a tag from before a field was added gets the field', async () => {
    const before = await tagsWith(api.store, () => undefined);
    const after = await tagsWith(api.store, ({ Report }) => {
      if (Report) Report.properties['policy'] = { type: 'string' };
    });
    expect(after[long]).not.toBe(before[long]);
    expect(after[short]).toBe(before[short]);
    expect((await ask(long, { 'If-None-Match': after[long] as string })).status).toBe(200);
    expect((await ask(long, { 'If-None-Match': before[long] as string })).status).toBe(304);
  });

  test('a field of an alert’s context changes the tag of alerts', async () => {
    const before = await tagsWith(api.store, () => undefined);
    const after = await tagsWith(api.store, ({ ReportsMissingContext: context }) => {
      if (context) context.properties['title'] = { type: 'string' };
    });
    expect(after['/v1/external/alerts']).not.toBe(before['/v1/external/alerts']);
  });

  test('other descriptions alone change no tag', async () => {
    const before = await tagsWith(api.store, () => undefined);
    const after = await tagsWith(api.store, ({ Report }) => {
      if (Report) Report.description = 'In other words.';
    });
    expect(after).toEqual(before);
  });
});

describe('HEAD', () => {
  test('has the headers of GET, without a body', async () => {
    for (const path of [long, short, '/v1/external/alerts']) {
      const [got, head] = [await ask(path), await ask(path, {}, 'HEAD')];
      expect([head.status, head.text]).toEqual([200, '']);
      const names = ['etag', 'cache-control', 'vary', 'content-type', 'content-length'];
      for (const name of names) expect(head.headers[name], name).toBe(got.headers[name]);
    }
  });

  test('answers 304, 401, 404 and 422 like GET', async () => {
    const statuses = [
      (await ask(long, { 'If-None-Match': '*' }, 'HEAD')).status,
      (await api.get(long, { method: 'HEAD' })).status,
      (await ask('/v1/external/nothing', {}, 'HEAD')).status,
      (await ask(`${long}?limit=0`, {}, 'HEAD')).status,
    ];
    expect(statuses).toEqual([304, 401, 404, 422]);
  });
});

describe('compression', () => {
  /** The answer as sent: superagent would have decompressed it. */
  function askRaw(path: string, acceptEncoding?: string) {
    const { promise, resolve, reject } = Promise.withResolvers<{
      encoding: string | undefined;
      vary: string | undefined;
      length: number;
      bytes: Buffer;
    }>();
    const headers = {
      Authorization: `Bearer ${account.key}`,
      ...(acceptEncoding === undefined ? {} : { 'Accept-Encoding': acceptEncoding }),
    };
    const sent = request({ host: '127.0.0.1', port: api.port, path, headers }, async (answer) => {
      const bytes = Buffer.concat(await Array.fromAsync(answer));
      const { 'content-encoding': encoding, 'content-length': length, vary } = answer.headers;
      resolve({ encoding, vary, length: Number(length), bytes });
    });
    sent.on('error', reject).end();
    return promise;
  }

  const OPEN = {
    gzip: gunzipSync,
    br: brotliDecompressSync,
    identity: (bytes: Buffer) => bytes,
  };

  test.each<[string | undefined, keyof typeof OPEN]>([
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'gzip'],
    ['br, gzip', 'br'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0', 'identity'],
    ['*', 'br'],
    ['deflate', 'identity'],
    ['identity;q=0, compress', 'identity'],
    ['x'.repeat(4_000), 'identity'],
    ['gzip;q=x', 'identity'],
    [';;;,,,', 'identity'],
  ])('Accept-Encoding: %s gives %s', async (acceptEncoding, encoding) => {
    const plain = (await ask(long)).text;
    const answer = await askRaw(long, acceptEncoding);
    expect(answer.encoding ?? 'identity').toBe(encoding);
    expect(answer.vary?.split(', ')).toContain('Accept-Encoding');
    expect(OPEN[encoding](answer.bytes).toString()).toBe(plain);
    expect(answer.bytes.length).toBe(answer.length);
    if (encoding !== 'identity') expect(answer.length).toBeLessThan(plain.length / 4);
  });

  test('a page that fits into one packet is not compressed', async () => {
    const { encoding, bytes } = await askRaw(short, 'gzip, br');
    expect(encoding).toBeUndefined();
    expect(JSON.parse(bytes.toString()).total).toBe(1);
  });

  test('the ETag is the same for every encoding, and so is the 304', async () => {
    const headers = { 'Accept-Encoding': 'gzip' };
    const { etag } = (await ask(long, headers)).headers;
    expect(etag).toBe((await ask(long)).headers['etag']);
    const again = await ask(long, { ...headers, 'If-None-Match': etag as string });
    expect([again.status, again.headers['content-encoding']]).toEqual([304, undefined]);
  });
});
