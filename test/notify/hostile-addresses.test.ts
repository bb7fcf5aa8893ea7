import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createHostLookUp } from '../../src/dns/resolver.ts';
import { parseWebhookUrl } from '../../src/domain/webhooks/address.ts';
import { send, type WebhookMessage } from '../../src/notify/webhooks/send.ts';
import { serveDns, type Zone } from '../support/dns-server.ts';

/** Whoever reaches it has left what may be called. */
async function aPlantedListener() {
  const reached: string[] = [];
  const server = createServer((req, res) => {
    reached.push(`${req.headers.host}${req.url}`);
    res.end();
  });
  server.on('connection', () => reached.push('a connection'));
  await new Promise<void>((resolve) => void server.listen(0, '::', resolve));
  onTestFinished(() => void server.close());
  return { reached, port: (server.address() as AddressInfo).port };
}

const message = (url: string): WebhookMessage => ({
  ...{ url, id: 'an-id', body: '{}', secrets: [`whsec_${btoa('secret')}`] },
});

/** Every notation that the URL parser or a resolver could take for an address of ours. */
const HOSTS = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1'],
  ...['017700000001', '127.0.0.1.', '127.255.255.254', '0', '0.0.0.0', '0x0', '１２７.０.０.１'],
  ...[
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '10.0.0.1',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.1',
  ],
  ...[
    '192.168.1.1',
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '100.64.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '169.254.170.2',
  ],
  ...['192.0.0.192', '198.18.0.1', '192.0.2.1', '224.0.0.1', '239.255.255.250', '240.0.0.1'],
  ...['255.255.255.255', '[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]'],
  ...['[::ffff:7f00:1]', '[::ffff:10.0.0.1]', '[::127.0.0.1]', '[::ffff:0:127.0.0.1]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
  ...['[2002:a9fe:a9fe::1]', '[2001:0:7f00:1::]', '[fc00::1]', '[fd00:ec2::254]', '[fe80::1]'],
  ...['[fec0::1]', '[ff02::1]', '[100::1]', '[2001:db8::1]', '[3fff::1]', '[5f00::1]', '[4000::1]'],
];

test('there are enough of them', () => {
  expect(new Set(HOSTS).size).toBeGreaterThanOrEqual(40);
});

describe('an address of an endpoint', () => {
  test.each(HOSTS)('%s is refused', (host) => {
    expect(() => parseWebhookUrl(`https://${host}/hook`, [])).toThrow();
  });

  test.each([
    ...['http://example.com/', 'ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com'],
    ...[
      'javascript:alert(1)',
      '//example.com',
      'example.com',
      '',
      'https://',
      'https://exa mple.com',
    ],
    ...[
      'https://name:password@example.com/',
      'https://name@example.com/',
      'https://:x@example.com/',
    ],
    `https://example.com/${'x'.repeat(1_000)}`,
  ])('%s is refused', (url) => {
    expect(() => parseWebhookUrl(url, [])).toThrow();
  });

  test.each([
    ['https://example.com/hook?a=b#c', 'https://example.com/hook?a=b'],
    ['https://EXAMPLE.com:80', 'https://example.com:80/'],
    ['https://EXAMPLE.com:443', 'https://example.com/'],
    ['https://93.184.215.14/x', 'https://93.184.215.14/x'],
    ['https://[2606:2800::1]/', 'https://[2606:2800::1]/'],
  ])('%s is stored as %s', (url, stored) => {
    expect(parseWebhookUrl(url, [])).toBe(stored);
  });

  test('of any port was stored: it is on 443 or 80, or on one that the operator allows', () => {
    for (const url of ['https://example.com:8443/', 'https://93.184.215.14:22/'])
      expect(() => parseWebhookUrl(url, [':9443'])).toThrow(/443 (or|and) 80/);
    const { webhookAllow } = readConfig({ PLUMBLINE_WEBHOOK_ALLOW: ':8443,10.1.0.0/16' });
    for (const url of ['https://example.com:8443/', 'http://10.1.0.1:3000/'])
      expect(parseWebhookUrl(url, webhookAllow)).toBe(url);
    expect(() => parseWebhookUrl('https://93.184.215.14:22/', webhookAllow)).toThrow('port 22');
  });

  test('of an allowed network may be plain HTTP, and no other', () => {
    const allowed = ['10.1.0.0/16', 'fd12::/16', '192.168.0.7'];
    for (const url of ['http://10.1.2.3/', 'https://[fd12::1]/', 'http://192.168.0.7/'])
      expect(parseWebhookUrl(url, allowed)).toBe(url);
    for (const url of ['http://10.2.0.1/', 'https://192.168.0.8/'])
      expect(() => parseWebhookUrl(url, allowed)).toThrow('it is not public');
    for (const each of [allowed, []])
      expect(() => parseWebhookUrl('http://93.184.215.14/', each)).toThrow('by http://: use https');
  });
});

test.each([
  '169.254.169.254',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  '[fd00:ec2::254]',
])(
  'the address of a cloud, %s, was called where the operator allows its network: never',
  (host) => {
    const allowed = ['0.0.0.0/0', '::/0'];
    expect(() => parseWebhookUrl(`https://${host}/`, allowed)).toThrow('it is not public');
  },
);

describe('a call', () => {
  const now = () => new Date();
  const never = new AbortController().signal;

  test.each(HOSTS)('to %s reaches nobody, also where it was stored', async (host) => {
    const { reached, port } = await aPlantedListener();
    const lookUp = createHostLookUp([]);
    for (const scheme of ['http', 'https'])
      if (URL.canParse(`${scheme}://${host}:${port}/`)) {
        const outcome = await send(
          { allowed: [], lookUp, now },
          message(`${scheme}://${host}:${port}/`),
          never,
        );
        expect(outcome).toMatchObject({ kind: 'failed' });
        expect(outcome.answer).toMatch(
          /not public|no address|ENOTFOUND|No DNS server answered|getaddrinfo/,
        );
      }
    expect(reached).toEqual([]);
  });

  test.each([
    ['loopback', { a: ['127.0.0.1'] }],
    ['a public address and loopback', { a: ['93.184.215.14', '127.0.0.1'] }],
    ['loopback of IPv6', { aaaa: ['::1'] }],
    ['a mapped address', { aaaa: ['::ffff:127.0.0.1'] }],
    ['metadata', { a: ['169.254.169.254'] }],
    ['NAT64 of loopback', { aaaa: ['64:ff9b::7f00:1'] }],
    ['private space', { a: ['10.0.0.1'], aaaa: ['fd00::1'] }],
    ['no address', {}],
  ])('to a name of %s reaches nobody', async (_what, records) => {
    const { reached, port } = await aPlantedListener();
    const { address } = await serveDns({ 'rebinding.example': records });
    const deps = { allowed: [], now, lookUp: createHostLookUp([address]) };
    for (const scheme of ['http', 'https']) {
      const outcome = await send(deps, message(`${scheme}://rebinding.example:${port}/`), never);
      expect(outcome.answer).toMatch(/is not public|by http:|on port|has no address/);
    }
    expect(reached).toEqual([]);
  });

  test('whose name no DNS server knew in time did not say that it was DNS', async () => {
    const silent = {
      ...{ allowed: [], now, timeoutMs: 2_000 },
      lookUp: () => new Promise<never>(() => {}),
    };
    const outcome = await send(silent, message('https://example.com/'), never);
    const answer = 'No DNS server answered for example.com in time.';
    expect(outcome).toMatchObject({ kind: 'failed', answer });
  });

  test('asks for the addresses of a name each time: one that changed is judged again', async () => {
    const { reached, port } = await aPlantedListener();
    const zone: Zone = { 'rebinding.example': { a: ['127.0.0.2'] } };
    const { address, asked } = await serveDns(zone);
    const deps = { allowed: ['127.0.0.2'], now, lookUp: createHostLookUp([address]) };
    const url = `http://rebinding.example:${port}/`;
    expect(await send(deps, message(url), never)).toMatchObject({ kind: 'delivered' });
    const before = [reached.length, asked.length];
    zone['rebinding.example'] = { a: ['127.0.0.1'] };
    const outcome = await send(deps, message(url), never);
    expect(outcome.answer).toBe('Plumbline does not call 127.0.0.1: it is not public.');
    expect([reached.length, asked.length > (before[1] ?? 0)]).toEqual([before[0], true]);
  });

  test('follows no redirect to an address that may not be called', async () => {
    const { reached, port } = await aPlantedListener();
    const target = `http://127.0.0.1:${port}/`;
    const redirecting = createServer((_req, res) => res.writeHead(307, { location: target }).end());
    await new Promise<void>((resolve) => void redirecting.listen(0, '127.0.0.2', resolve));
    onTestFinished(() => void redirecting.close());
    const { port: own } = redirecting.address() as AddressInfo;
    const deps = { allowed: ['127.0.0.2'], now, lookUp: async () => [] };
    expect(await send(deps, message(`http://127.0.0.2:${own}/`), never)).toMatchObject({
      ...{ kind: 'failed', status: 307 },
    });
    expect(reached).toEqual([]);
  });

  test('goes through no proxy that the environment names', async () => {
    const { reached, port } = await aPlantedListener();
    const names = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
    for (const name of names) process.env[name] = `http://127.0.0.1:${port}`;
    process.env['NODE_USE_ENV_PROXY'] = '1';
    onTestFinished(() => {
      for (const name of [...names, 'NODE_USE_ENV_PROXY']) delete process.env[name];
    });
    const deps = { allowed: [], now, lookUp: async () => ['127.0.0.1'] };
    await send(deps, message('https://example.com/'), never);
    expect(reached).toEqual([]);
  });
});
