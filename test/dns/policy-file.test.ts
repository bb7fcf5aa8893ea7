import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type FetchDeps, fetchPolicyFile } from '../../src/dns/policy-file.ts';
import { checkTls } from '../../src/dns/tls-lookup.ts';
import { toTlsFindings } from '../../src/domain/dns/tls-findings.ts';
import { isAnswered, type LookedTls } from '../../src/domain/tls/tls-check.ts';
import { aCertificate } from '../support/certificate.ts';
import { serveDns } from '../support/dns-server.ts';

const DOMAIN = 'example.com';
const HOST = `mta-sts.${DOMAIN}`;
const FILE = 'version: STSv1\nmode: enforce\nmx: mx.example.com\nmax_age: 604800\n';

/** A host on loopback, and what lets `fetchPolicyFile` call it. */
async function aHost(answer: RequestListener, certificate = aCertificate(HOST)) {
  const asked: string[] = [];
  const server = createServer(certificate, (req, res) => {
    asked.push(`${req.headers.host?.split(':')[0]}${req.url}`);
    answer(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const lookUp = async () => ['127.0.0.1'];
  return { asked, deps: { lookUp, allowed: ['127.0.0.1'], port, ca: certificate.cert } };
}

const send =
  (status: number, headers: Record<string, string>, body = FILE): RequestListener =>
  (_, res) =>
    void res.writeHead(status, headers).end(body);
const TEXT = { 'content-type': 'text/plain; charset=utf-8' };

const findingsOf = async (deps: FetchDeps) => (await fetchPolicyFile(DOMAIN, deps)).findings;

test('the file is asked for by its name, and read', async () => {
  const { asked, deps } = await aHost(send(200, TEXT));
  expect(await fetchPolicyFile(DOMAIN, deps)).toEqual({ text: FILE, findings: [] });
  expect(asked).toEqual([`${HOST}/.well-known/mta-sts.txt`]);
});

test.each<[string, RequestListener, string]>([
  ['a redirect is not followed', send(302, { location: 'https://127.0.0.1/' }), 'redirect'],
  ['a status besides 200', send(404, TEXT), 'status'],
  ['another type', send(200, { 'content-type': 'text/html' }), 'not_text'],
  ['64 KiB and a byte', send(200, TEXT, 'x'.repeat(65_537)), 'too_large'],
  ['an answer that is cut off', (_, res) => void res.socket?.destroy(), 'unreachable'],
])('%s', async (_, answer, finding) => {
  const { asked, deps } = await aHost(answer);
  expect(await findingsOf(deps)).toEqual([finding]);
  expect(asked).toHaveLength(1);
});

test('64 KiB are read', async () => {
  const { deps } = await aHost(send(200, TEXT, 'x'.repeat(65_536)));
  expect(await findingsOf(deps)).toEqual([]);
});

test('an answer without end is left', async () => {
  const { deps } = await aHost((_, res) => {
    res.writeHead(200, TEXT);
    const more = () => {
      while (!res.destroyed && res.write('x'.repeat(16_384)));
    };
    res.on('drain', more);
    more();
  });
  expect(await findingsOf(deps)).toEqual(['too_large']);
});

test('an answer that comes byte by byte is given up', async () => {
  const { deps } = await aHost((_, res) => {
    res.writeHead(200, TEXT);
    const timer = setInterval(() => res.write('x'), 20);
    res.on('close', () => clearInterval(timer));
  });
  expect(await findingsOf({ ...deps, timeoutMs: 2_000 })).toEqual(['unreachable']);
});

test('a look-up that never ends is given up', async () => {
  const lookUp = () => new Promise<never>(() => {});
  expect(await findingsOf({ lookUp, timeoutMs: 500 })).toEqual(['unreachable']);
});

test.each([
  ['another name', aCertificate('www.example.com')],
  ['a year that is over', aCertificate(HOST, 2021)],
])('a certificate for %s', async (_, certificate) => {
  const { asked, deps } = await aHost(send(200, TEXT), certificate);
  expect(await findingsOf(deps)).toEqual(['bad_certificate']);
  expect(asked).toEqual([]);
});

test('a certificate that nobody trusts', async () => {
  const { ca: _, ...deps } = (await aHost(send(200, TEXT))).deps;
  expect(await findingsOf(deps)).toEqual(['bad_certificate']);
});

test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00::1'])(
  'a host at %s is not called, also where another of its addresses is public',
  async (address) => {
    const { asked, deps } = await aHost(send(200, TEXT));
    const guarded = { port: deps.port, ca: deps.ca };
    for (const addresses of [[address], ['192.0.2.1', address]])
      expect(await findingsOf({ ...guarded, lookUp: async () => addresses })).toEqual([
        'unreachable',
      ]);
    expect(asked).toEqual([]);
  },
);

const ZONE = {
  [`_mta-sts.${DOMAIN}`]: [['v=STSv1; id=1']],
  [`_smtp._tls.${DOMAIN}`]: [['v=TLSRPTv1; ', 'rua=mailto:a@reports.example.net']],
  [DOMAIN]: { mx: [{ priority: 10, exchange: 'other.example.com' }] },
  [HOST]: { a: ['127.0.0.1'] },
};
const codesOf = (check: LookedTls) =>
  toTlsFindings(check, { domain: DOMAIN, address: '' }).map(
    ({ check, code }) => `${check} ${code}`,
  );
const ASKED = { domain: DOMAIN, addresses: ['a@reports.example.net'], fetchesPolicy: true };

test('an MX that the file does not cover is found, unless files are not fetched', async () => {
  const { deps, asked } = await aHost(send(200, TEXT));
  const { address } = await serveDns(ZONE);
  const off = await checkTls([address], { ...ASKED, fetchesPolicy: false }, deps);
  expect([codesOf(off), asked]).toEqual([[], []]);
  const found = await checkTls([address], ASKED, deps);
  expect(codesOf(found)).toEqual(['policy_file mx_not_covered']);
  expect(found).toMatchObject({
    record: { value: 'v=TLSRPTv1; rua=mailto:a@reports.example.net' },
    sts: { id: '1', policy: { mode: 'enforce' } },
  });
});

test('a domain without a record of MTA-STS is not asked for a file', async () => {
  const { deps, asked } = await aHost(send(200, TEXT));
  const { address } = await serveDns({ [HOST]: ZONE[HOST] ?? [] });
  const found = await checkTls([address], ASKED, deps);
  expect(codesOf(found)).toEqual(['tls_record missing']);
  expect(found).toMatchObject({ record: { value: null }, sts: null });
  expect(asked).toEqual([]);
});

test('no answer of DNS is no missing record', async () => {
  const { address } = await serveDns({
    [`_smtp._tls.${DOMAIN}`]: 'servfail',
    [`_mta-sts.${DOMAIN}`]: 'servfail',
  });
  const found = await checkTls([address], ASKED);
  expect(isAnswered(found)).toBe(false);
  expect(codesOf(found)).toEqual(['tls_record no_answer', 'sts_record no_answer']);
});
