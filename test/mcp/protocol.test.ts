import { beforeEach, describe, expect, test } from 'vitest';
import { updateApiKey } from '../../src/store/accounts/api-keys.ts';
import { anAgent, postMessage } from '../support/agent.ts';
import { serveApi } from '../support/api.ts';
import { anAccount } from '../support/builders.ts';

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const toCall = (name: string) =>
  JSON.stringify({
    ...{ jsonrpc: '2.0', id: 7, method: 'tools/call' },
    params: { name, arguments: {} },
  });

async function serveAgents(limits: { requestsPerIp?: number; requestsPerKey?: number } = {}) {
  const api = await serveApi(limits);
  const account = await anAccount(api.db);
  const Authorization = `Bearer ${account.key}`;
  const post = (
    body: BodyInit,
    headers: Record<string, string> = {},
    init: Omit<RequestInit, 'headers'> = {},
  ) => postMessage(api, body, { headers: { Authorization, ...headers }, ...init });
  return { ...api, account, post };
}

describe('before anything of the protocol', () => {
  test.each([
    ['no key', ''],
    ['another key', 'Bearer x'],
    ['a key as a user', 'Basic eDp5'],
  ])('%s is a 401 as elsewhere', async (_what, Authorization) => {
    const { post, get } = await serveAgents();
    const { status, headers, body } = await post('no JSON', { Authorization });
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(body).toEqual((await get('/v1/external/key')).body);
  });

  test('a disabled key is a 401 at once', async () => {
    const { post, db, account } = await serveAgents();
    expect((await post(LIST)).status).toBe(200);
    await updateApiKey(db, account.keyId, false);
    expect((await post(LIST)).status).toBe(401);
  });

  test('the limit by key is that of the API, and each message counts as one request', async () => {
    const { post, get, account } = await serveAgents({ requestsPerKey: 3 });
    const first = await post(LIST);
    expect(first.headers.get('ratelimit')).toContain('"key";r=2');
    await get('/v1/external/key', account);
    await post(toCall('get_key'));
    const refused = await post(toCall('get_key'));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect(refused.body).toEqual((await get('/v1/external/key', account)).body);
  });

  test('the limit by address counts those without a key', async () => {
    const { post } = await serveAgents({ requestsPerIp: 2 });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await post(LIST, { Authorization: '' })).status);
    expect(statuses).toEqual([401, 401, 429]);
  });

  test('the protocol’s client tells what the API says of a limit', async () => {
    const api = await serveAgents({ requestsPerKey: 5 });
    const agent = await anAgent(api, api.account.key);
    const calls = Array.from({ length: 5 }, () => agent.call('get_key'));
    const failed = (await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected');
    expect(failed.length).toBeGreaterThan(0);
    expect(`${(failed[0] as PromiseRejectedResult).reason}`).toContain('rate_limited');
  });
});

describe('the protocol’s own client', () => {
  test.each([
    ['by the newest revision', 'auto', '2026-07-28'],
    ['by those with a handshake', 'legacy', '2025-11-25'],
  ] as const)('%s lists tools and calls them', async (_what, mode, version) => {
    const { port, account, get } = await serveAgents();
    const agent = await anAgent({ port }, account.key, '', mode);
    expect(agent.client.getNegotiatedProtocolVersion()).toBe(version);
    expect(agent.client.getServerVersion()).toMatchObject({ name: 'plumbline' });
    expect(agent.tools.length).toBeGreaterThan(10);
    const { body, isError } = await agent.call('get_key');
    expect([isError, body]).toEqual([undefined, (await get('/v1/external/key', account)).body]);
    expect((await agent.call('get_key', { x: 1 })).isError).toBe(true);
    await expect(agent.call('delete_domain')).rejects.toThrow('No such tool.');
  });
});

test('with an address of its own, the Origin is compared with it, whatever Host is', async () => {
  const { port, db } = await serveApi({ baseUrl: 'https://plumbline.example' });
  const { key } = await anAccount(db);
  const ask = (Origin: string) =>
    postMessage({ port }, LIST, { headers: { Authorization: `Bearer ${key}`, Origin } });
  const origins = [
    'https://plumbline.example',
    'http://plumbline.example',
    `http://127.0.0.1:${port}`,
  ];
  const statuses = [];
  for (const origin of origins) statuses.push((await ask(origin)).status);
  expect(statuses).toEqual([200, 403, 403]);
});

describe('hostile requests', () => {
  let api: Awaited<ReturnType<typeof serveAgents>>;
  beforeEach(async () => {
    api = await serveAgents();
  });

  test.each(['GET', 'DELETE', 'PUT', 'OPTIONS'])('%s is a 405', async (method) => {
    const body = method === 'GET' ? { body: null } : {};
    const { status, headers } = await api.post('', {}, { method, ...body });
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  });

  test.each([
    ['no JSON', '{', 400, -32_700],
    ['nothing', '', 400, -32_700],
    ['bytes', new Uint8Array([0xff, 0xfe, 0]), 400, -32_700],
    ['no message', '{"a":1}', 400, -32_600],
    ['too much', JSON.stringify({ a: 'x'.repeat(64 * 1024) }), 413, -32_000],
    ['far too much', 'x'.repeat(3_000_000), 413, -32_000],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"x"}', 200, -32_601],
    [
      'resources, which there are none of',
      '{"jsonrpc":"2.0","id":1,"method":"resources/list"}',
      200,
      -32_601,
    ],
    ['an unknown tool', toCall('delete_domain'), 200, -32_602],
    ['a tool of every object', toCall('constructor'), 200, -32_602],
  ])('%s', async (_what, body, status, code) => {
    const answer = await api.post(body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect((await api.post(toCall('get_key'))).status).toBe(200);
  });

  test('a batch is refused, because its messages would count as one', async () => {
    const { status, body } = await api.post(` [${LIST},${LIST}]`);
    expect([status, body.error.message]).toEqual([422, 'A request has one message.']);
  });

  test('a type that is not JSON', async () => {
    const { status } = await api.post(LIST, { 'Content-Type': 'text/plain' });
    expect(status).toBe(415);
  });

  test('a name that objects have from the language is refused as every unknown one', async () => {
    const text = toCall('list_domains').replace(
      '"arguments":{}',
      '"arguments":{"__proto__":{"limit":1}}',
    );
    const { result } = (await api.post(text)).body;
    expect([result.isError, result.content[0].text]).toEqual([
      true,
      expect.stringContaining('\\"__proto__\\" is no parameter of this operation.'),
    ]);
  });

  test('a subscription is refused, and not kept open', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { _meta: meta, notifications: { toolsListChanged: true } };
    const message = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params };
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' };
    const { body } = await api.post(JSON.stringify(message), headers);
    expect(body.error.code).toBe(-32_603);
  });

  test('an unknown version of the protocol', async () => {
    const { status } = await api.post(LIST, { 'MCP-Protocol-Version': '1999-01-01' });
    expect(status).toBe(400);
  });

  test.each([
    ['http://evil.example', 403],
    ['null', 403],
    [() => `http://127.0.0.1:${api.port}`, 200],
  ])('the Origin %s is answered with %i', async (origin, status) => {
    const Origin = typeof origin === 'string' ? origin : origin();
    expect((await api.post(LIST, { Origin })).status).toBe(status);
  });

  test('a notification is accepted, and has no answer', async () => {
    const text = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    expect(await api.post(text)).toMatchObject({ status: 202, body: undefined });
  });

  test('an answer has the headers of every JSON answer', async () => {
    const { headers } = await api.post(LIST);
    expect(headers.get('x-request-id')).toMatch(/^[\w-]+$/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('mcp-session-id')).toBeNull();
  });
});
