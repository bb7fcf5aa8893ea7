import { Server } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { anAccount } from '../support/builders.ts';
import { holdToErrorShape } from '../support/contract.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';
import { RawClient } from '../support/raw-http.ts';
import { runServer } from '../support/running-server.ts';

const PATH = '/v1/external/domains';
const toRequest = (path: string, headers: Record<string, string> = {}) =>
  `GET ${path} HTTP/1.1\r\nHost: api.example\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A server, an account, and a connection to it that stays open. */
async function serve(environment: Record<string, string> = {}) {
  const { server, store } = await runServer(environment);
  const { key } = await anAccount(store.db);
  const client = new RawClient(server.url);
  const authorization = { Authorization: `Bearer ${key}` };
  return { server, store, key, client, authorization };
}

describe('a running server', () => {
  test('answers many requests on one connection', async () => {
    const { client, authorization } = await serve();
    for (let i = 0; i < 5; i++) {
      const answer = await client.send(toRequest(PATH, authorization));
      expect(answer?.status).toBe(200);
      expect(answer?.headers['connection']).toBe('keep-alive');
    }
    client.close();
  });

  test('fetch reads it', async () => {
    const { server, authorization } = await serve();
    const answer = await fetch(`${server.url}${PATH}`, { headers: authorization });
    expect(await answer.json()).toEqual({ data: [], total: 0 });
  });

  test('its URL has brackets around an IPv6 address', async () => {
    const { server } = await serve({ PLUMBLINE_HOST: '::1' });
    expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });

  test('a port in use is an error', async () => {
    const { server } = await serve();
    const port = new URL(server.url).port;
    await expect(runServer({ PLUMBLINE_PORT: port })).rejects.toThrow(/EADDRINUSE/);
  });
});

describe('a shared port', () => {
  const sharing = { PLUMBLINE_SHARE_PORT: 'on' };

  test('is answered by the server that is left', async () => {
    const { server: old } = await serve(sharing);
    const PLUMBLINE_PORT = new URL(old.url).port;
    const { server } = await serve({ ...sharing, PLUMBLINE_PORT });
    await old.stop();
    expect(server.url).toBe(old.url);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });

  test.each([
    ['beside one that does not share it', {}, sharing],
    ['for one that does not share it', sharing, {}],
  ])('is refused %s', async (_name, first, second) => {
    const { server } = await serve(first);
    const PLUMBLINE_PORT = new URL(server.url).port;
    await expect(runServer({ ...second, PLUMBLINE_PORT })).rejects.toThrow(/EADDRINUSE/);
  });
});

describe('invalid HTTP', () => {
  test.each([
    ['random bytes', 'garbage\r\n\r\n'],
    ['an invalid version', `GET ${PATH} HTTP/9.9\r\nHost: a\r\n\r\n`],
    ['a blank in the path', `GET /v1 /external HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['NUL in a header', `GET ${PATH} HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n`],
    ['a header without a colon', `GET ${PATH} HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n`],
    ['a method that is no token', `GR@B ${PATH} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['an unknown method of another path', 'FOO /settings HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an unknown method without a version', `FOO ${PATH}\r\nHost: a\r\n\r\n`],
    [
      'two lengths',
      `GET ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`,
    ],
    ['an invalid length', `GET ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n`],
    [
      'both a length and chunks',
      `GET ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    ],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a fragment in the path', `GET ${PATH}#x HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['a fragment that hides the path', 'GET //a@# HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['no Host', `GET ${PATH} HTTP/1.1\r\n\r\n`],
    ['two Hosts', `GET ${PATH} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`],
    ['the same Host twice', `GET ${PATH} HTTP/1.0\r\nHost: a\r\nHOST: a\r\n\r\n`],
    ['a target that is not a path', 'GET v1/external/domains HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a target with a user', 'GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a target of another scheme', 'GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('%s: 400 with the API’s error body', async (_what, bytes) => {
    const { client, server } = await serve();
    const answer = await client.send(Buffer.from(bytes, 'latin1'));
    expect(answer?.status).toBe(400);
    expect(answer?.headers['content-type']).toBe('application/json');
    expect(answer?.headers['cache-control']).toBe('no-store');
    holdToErrorShape(answer?.body ?? '');
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });

  test.each(['FOO', 'GETS', 'get', 'x-y.z!'])(
    '%s is a method that HTTP allows and node does not know: 405, as the guide says',
    async (method) => {
      const { client, server } = await serve();
      const answer = await client.send(`${method} ${PATH}?limit=1 HTTP/1.1\r\nHost: a\r\n\r\n`);
      expect([answer?.status, answer?.headers['allow']]).toEqual([405, 'GET, HEAD']);
      expect(JSON.parse(answer?.body ?? '').error.code).toBe('method_not_allowed');
      holdToErrorShape(answer?.body ?? '');
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    },
  );

  test('CONNECT is a 405, as every method other than GET and HEAD is', async () => {
    const { client } = await serve();
    const answer = await client.send('CONNECT api.example:443 HTTP/1.1\r\nHost: a\r\n\r\n');
    expect([answer?.status, answer?.headers['allow']]).toEqual([405, 'GET, HEAD']);
    holdToErrorShape(answer?.body ?? '');
  });

  test('a valid request has its own answer when invalid bytes follow it in one packet', async () => {
    const { client } = await serve();
    expect((await client.send(`${toRequest(PATH)}garbage\r\n\r\n`))?.status).toBe(401);
  });

  test.each([
    [`http://elsewhere.example${PATH}`, 401],
    [`HTTPS://elsewhere.example:8443${PATH}?limit=1`, 401],
    ['http://elsewhere.example', 200],
    ['http://elsewhere.example?x=1', 200],
    ['http://elsewhere.example/healthz', 200],
    ['http://elsewhere.example//healthz', 404],
    ['http://elsewhere.example/settings/sign-in', 200],
    ['http://elsewhere.example/settings/single-sign-on/callback?code=x&state=y', 303],
    ['http://elsewhere.example/docs/nothing', 404],
  ])('a target in absolute form works like its path: %s is %i', async (target, status) => {
    const { client } = await serve();
    expect((await client.send(toRequest(target)))?.status).toBe(status);
    client.close();
  });

  test('more than 16 KB of headers: 431 with the API’s error body', async () => {
    const { client } = await serve();
    const answer = await client.send(toRequest(PATH, { 'X-Big': 'x'.repeat(17_000) }));
    expect(answer?.status).toBe(431);
    holdToErrorShape(answer?.body ?? '');
    expect(JSON.parse(answer?.body ?? '').error.code).toBe('headers_too_large');
  });

  test('a URL of more than 16 KB: 431 as well', async () => {
    const { client } = await serve();
    const answer = await client.send(toRequest(`${PATH}?x=${'x'.repeat(17_000)}`));
    expect(answer?.status).toBe(431);
    holdToErrorShape(answer?.body ?? '');
  });

  test('8 KB of headers are accepted', async () => {
    const { client, authorization } = await serve();
    const headers = { ...authorization, 'X-Big': 'x'.repeat(8_000) };
    expect((await client.send(toRequest(PATH, headers)))?.status).toBe(200);
    client.close();
  });

  test('an unknown expectation is ignored', async () => {
    const { client, authorization } = await serve();
    const answer = await client.send(toRequest(PATH, { ...authorization, Expect: 'miracles' }));
    expect(answer?.status).toBe(200);
    client.close();
  });

  test('a client that never closes its half of the connection is disconnected', async () => {
    const { server } = await serve();
    const port = Number(new URL(server.url).port);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined).resume();
    socket.write('garbage\r\n\r\n');
    await new Promise((resolve) => socket.once('end', resolve));
    await wait(2_500);
    // When the connection is closed, the first byte is answered with a reset, and the second cannot be sent.
    socket.write('.');
    await wait(200);
    socket.write('.');
    await expect.poll(() => socket.destroyed).toBe(true);
  });

  test('an unexpected body is ignored', async () => {
    const { client, authorization } = await serve();
    const head = toRequest(PATH, { ...authorization, 'Content-Length': '5' });
    expect((await client.send(`${head}12345`))?.status).toBe(200);
    expect((await client.send(toRequest(PATH, authorization)))?.status).toBe(200);
    client.close();
  });

  test('a client that disconnects during an answer does not affect others', async () => {
    const { server } = await serve();
    for (let i = 0; i < 5; i++) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      await new Promise<void>((resolve) => socket.write(`GET ${PATH} HT`, () => resolve()));
      socket.resetAndDestroy();
    }
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});

describe('stop', () => {
  /** A read that waits until the store's only connection is free. */
  async function serveWaiting() {
    const running = await serve();
    const { store, client, authorization } = running;
    const release = Promise.withResolvers<void>();
    const busy = store.db.write(() => release.promise);
    const answer = client.send(toRequest(PATH, authorization));
    // Long enough for the request to reach its handler.
    await wait(100);
    return { ...running, answer, release: () => release.resolve(), busy };
  }

  test('lets answers in progress finish before it ends', async () => {
    const { server, answer, release, busy } = await serveWaiting();
    let isStopped = false;
    const stopped = server.stop().then(() => {
      isStopped = true;
    });
    await wait(200);
    expect(isStopped).toBe(false);
    release();
    expect((await answer)?.status).toBe(200);
    await Promise.all([stopped, busy]);
  });

  test('rejects new connections once it has accepted those that waited, without a delay', async () => {
    const { server, answer, release, busy } = await serveWaiting();
    const stopped = server.stop();
    const ask = () => fetch(`${server.url}/healthz`).then(({ status }) => status, String);
    await expect.poll(ask).toMatch(/fetch failed/);
    release();
    await Promise.all([stopped, busy, answer]);
  });

  test('a busy connection got 40 of 40 resets: every answer now says that its connection closes', async () => {
    const { server, authorization } = await serve();
    const clients = Array.from({ length: 40 }, () => new RawClient(server.url));
    const started = clients.map(() => Promise.withResolvers<void>());
    const lastAnswers = clients.map(async (client, i) => {
      for (;;) {
        const answer = await client.send(toRequest(PATH, authorization));
        started[i]?.resolve();
        if (answer?.headers['connection'] !== 'keep-alive') return answer;
      }
    });
    await Promise.all(started.map(({ promise }) => promise));
    await server.stop();
    for (const answer of await Promise.all(lastAnswers))
      expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
  });

  test('a request that comes on an idle connection after the stop is answered', async () => {
    const { server, client, authorization } = await serve();
    await client.send(toRequest(PATH, authorization));
    const stopped = server.stop();
    await wait(200);
    const answer = await client.send(toRequest(PATH, authorization));
    expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await stopped;
  });

  test('for the configured delay it takes new connections and is not ready', async () => {
    const { server, authorization } = await serve({ PLUMBLINE_STOP_DELAY_SECONDS: '2' });
    const stopped = server.stop();
    const ready = await new RawClient(server.url).send(toRequest('/readyz'));
    expect(ready?.status).toBe(503);
    const answer = await new RawClient(server.url).send(toRequest(PATH, authorization));
    expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await stopped;
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow(/fetch failed/);
  });

  test('does not wait for idle connections until it closes all', async () => {
    const closeAll = vi.spyOn(Server.prototype, 'closeAllConnections');
    onTestFinished(() => closeAll.mockRestore());
    const { server, client, authorization } = await serve();
    const answer = await client.send(toRequest(PATH, authorization));
    expect(answer?.status).toBe(200);
    await server.stop();
    expect(closeAll).not.toHaveBeenCalled();
  });

  test('readyz is 503 while answers finish', async () => {
    const { server, store, key } = await serve();
    const release = Promise.withResolvers<void>();
    const busy = store.db.write(() => release.promise);
    // On a connection that still waits for an answer: any other would be closed or rejected.
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    const isClosed = new Promise((resolve) => socket.once('close', resolve));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    const [asked, isShort] = [
      vi.spyOn(store.reader, 'readFirst'),
      vi.spyOn(store.db, 'findShortage'),
    ];
    socket.write(toRequest(PATH, { Authorization: `Bearer ${key}` }));
    await vi.waitFor(() => expect(asked).toHaveBeenCalled(), PATIENCE_MS);
    const stopped = server.stop();
    socket.write(toRequest('/readyz'));
    await vi.waitFor(() => expect(isShort).toHaveBeenCalled(), PATIENCE_MS);
    release.resolve();
    await Promise.all([stopped, busy, isClosed]);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 503']);
  });

  test('writes last_used_at before it ends', async () => {
    const { server, store, client, authorization } = await serve();
    await client.send(toRequest(PATH, authorization));
    await server.stop();
    const { last_used_at: usedAt } = await store.db
      .selectFrom('api_key')
      .select('last_used_at')
      .executeTakeFirstOrThrow();
    expect(usedAt).not.toBeNull();
  });

  test('may be called twice', async () => {
    const { server } = await serve();
    await Promise.all([server.stop(), server.stop()]);
  });
});
