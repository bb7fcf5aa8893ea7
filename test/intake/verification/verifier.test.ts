import arc from 'mailauth/lib/arc/index.js';
import { describe, expect, test } from 'vitest';
import type { Envelope } from '../../../src/domain/incoming.ts';
import { localParser } from '../../../src/intake/parser/parser.ts';
import { createVerifier } from '../../../src/intake/verification/verifier.ts';
import { aReportXml } from '../../support/inbox.ts';
import { base64, mail } from '../../support/mail.ts';
import { aKey, SELECTOR, signMail } from '../../support/signed-mail.ts';

const NOW = '2026-03-15T04:12:09Z';
const KEY = aKey();
const WEAK_KEY = aKey(512);
const OTHER_KEY = aKey();

const keyName = (domain: string) => `${SELECTOR}._domainkey.${domain}`;

type Zone = Readonly<Record<string, string | 'servfail' | 'silent'>>;

const ZONE: Zone = {
  [keyName('reporter.example')]: KEY.record,
  [keyName('mail.reporter.example')]: KEY.record,
  [keyName('other.example')]: KEY.record,
  [keyName('weak.reporter.example')]: WEAK_KEY.record,
  [keyName('forwarder.example')]: KEY.record,
  [keyName('late.reporter.example')]: 'silent',
  [keyName('broken.reporter.example')]: 'servfail',
  'reporter.example': 'v=spf1 ip4:192.0.2.7 -all',
  'bounces.reporter.example': 'v=spf1 ip4:192.0.2.7 -all',
  'other.example': 'v=spf1 ip4:192.0.2.7 -all',
  'mx.reporter.example': 'v=spf1 ip4:192.0.2.7 -all',
  'late.reporter.example': 'silent',
};

interface Given {
  readonly zone?: Zone;
  readonly trustedServers?: readonly string[];
  readonly envelope?: Envelope;
}

function aVerifier({ zone = ZONE, trustedServers = [], envelope = {} }: Given = {}) {
  const asked: string[] = [];
  const ask = async (name: string, type: string): Promise<unknown[]> => {
    asked.push(`${type} ${name}`);
    const found = type === 'TXT' ? zone[name] : undefined;
    if (found === 'silent') return await new Promise(() => undefined);
    if (found === undefined) throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
    if (found === 'servfail') throw Object.assign(new Error('failed'), { code: 'ESERVFAIL' });
    return [[found]];
  };
  const deps = { ask, check: localParser.check, trustedServers, trustedNetworks: [] };
  const verify = createVerifier({ ...deps, deadlineMs: 200 });
  const verifyOne = async (bytes: Uint8Array) =>
    (await verify([{ bytes, envelope, receivedAt: NOW }]))[0]?.from;
  return { asked, verify: verifyOne };
}

const ADDRESS = 'dmarc@reporter.example';
const FROM = `From: Reports <${ADDRESS}>`;

function aMail(from: readonly string[] = [FROM]): Buffer {
  const whole = mail(base64(aReportXml('r-1'))).toString('latin1');
  return Buffer.from(whole.replace(/^From: .*$/m, from.join('\r\n')), 'latin1');
}

const aFalseOne = (domain: string): string =>
  `DKIM-Signature: v=1; a=rsa-sha256; d=${domain}; s=${SELECTOR}; h=from; bh=AA; b=AA\r\n`;

const signed = (domain?: string, from?: readonly string[]) =>
  signMail(aMail(from), KEY, domain === undefined ? {} : { domain });

const with_ = (before: string, bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${before}\r\n`), bytes]);

describe('a signature', () => {
  test.each<[string, () => Promise<Buffer>, string | undefined]>([
    ['of the domain of From counts', () => signed(), ADDRESS],
    ['of a domain with the same owner counts', () => signed('mail.reporter.example'), ADDRESS],
    ['of another domain does not', () => signed('other.example'), ''],
    ['that is missing does not', async () => aMail(), ''],
    [
      'of a body that was changed does not',
      async () => Buffer.concat([await signed(), Buffer.from('one more line\r\n')]),
      '',
    ],
    [
      'of another subject does not',
      async () =>
        Buffer.from((await signed()).toString('latin1').replace('Report domain: x', 'y'), 'latin1'),
      '',
    ],
    [
      'of a part of the body (l=) does not',
      async () => await signMail(aMail(), KEY, { maxBodyLength: 20 }),
      '',
    ],
    [
      'of a part of the body with other text after it does not',
      async () => {
        const part = await signMail(aMail(), KEY, { maxBodyLength: 20 });
        return Buffer.concat([part, Buffer.from('one more line\r\n')]);
      },
      '',
    ],
    [
      'of a From that is longer than any address does not',
      () => signed(undefined, [`From: ${'a'.repeat(250)}@reporter.example`]),
      '',
    ],
    ['with a second From does not', async () => with_('From: a@other.example', await signed()), ''],
    [
      'of a From with two addresses does not',
      () => signed(undefined, ['From: dmarc@reporter.example, a@other.example']),
      '',
    ],
    [
      'by a key of 512 bits does not',
      () => signMail(aMail(), WEAK_KEY, { domain: 'weak.reporter.example' }),
      '',
    ],
    ['by another key does not', () => signMail(aMail(), OTHER_KEY), ''],
    [
      'that had expired when the mail came does not',
      () => signMail(aMail(), KEY, { expires: new Date('2026-03-10T00:00:00Z') }),
      '',
    ],
    [
      'that has expired since does',
      () => signMail(aMail(), KEY, { expires: new Date('2026-03-16T00:00:00Z') }),
      ADDRESS,
    ],
    ['without a key in DNS does not', () => signed('nokey.reporter.example'), ''],
    [
      'whose key DNS cannot give is not decided',
      () => signed('broken.reporter.example'),
      undefined,
    ],
    ['whose key comes late is not decided', () => signed('late.reporter.example'), undefined],
    [
      'beside one whose key comes late counts',
      async () => await signMail(await signed('late.reporter.example'), KEY),
      ADDRESS,
    ],
    [
      'of a mail whose lines end with LF counts',
      async () =>
        Buffer.from((await signed()).toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
      ADDRESS,
    ],
    [
      'beside six of another domain counts: those cannot, and are dropped',
      async () =>
        Buffer.concat([aFalseOne('a.example').repeat(6), await signed()].map(Buffer.from)),
      ADDRESS,
    ],
    [
      'below four of its domain does not',
      async () =>
        Buffer.concat([aFalseOne('reporter.example').repeat(4), await signed()].map(Buffer.from)),
      '',
    ],
    [
      'of a body with a line of 100,000 bytes counts',
      () => signMail(Buffer.concat([aMail(), Buffer.from(`${' '.repeat(100_000)}\r\n`)]), KEY),
      ADDRESS,
    ],
    [
      'below a header of 64 KiB does not',
      async () =>
        with_(
          'X-Long: a\r\n b'.padEnd(9_000, 'c').concat('\r\n').repeat(8).trimEnd(),
          await signed(),
        ),
      '',
    ],
  ])('%s', async (_what, toMail, from) => {
    expect(await aVerifier().verify(await toMail())).toBe(from);
  });
});

describe('what a signature says of the report', () => {
  const KNOWN = 'noreply-dmarc-support@google.com';
  /** The mail with other fields than those that were signed. */
  const exchange = async (given: {
    readonly from?: string;
    readonly headers: readonly string[];
    readonly replaced?: readonly [string | RegExp, string];
    readonly fields?: readonly string[];
  }) => {
    const { from = ADDRESS, headers, replaced = ['', ''], fields } = given;
    const domain = from.slice(from.indexOf('@') + 1);
    const bytes = mailOf([`From: ${from}`, ...headers]);
    const whole = await signMail(bytes, KEY, { domain, ...(fields && { fields }) });
    return Buffer.from(whole.toString('latin1').replace(...replaced), 'latin1');
  };
  const mailOf = (headers: readonly string[]) =>
    Buffer.from([...headers, '', '--b', '', aReportXml('r-1'), '--b--', ''].join('\r\n'), 'latin1');
  const zone = { ...ZONE, [keyName('google.com')]: KEY.record };
  const TYPE = 'Content-Type: multipart/mixed; boundary=b';
  const ONE_PART = ['Content-Type: text/xml', 'Content-Transfer-Encoding: 7bit'];
  const UNSIGNED = ['From', 'Date', 'Subject'];

  test.each<[string, Parameters<typeof exchange>[0], string]>([
    ['with its type counts', { headers: [TYPE] }, ADDRESS],
    ['without its type does not', { headers: [TYPE], fields: UNSIGNED }, ''],
    [
      'of an address that sends reports only counts without its type, which Google does not sign',
      { from: KNOWN, headers: [TYPE], fields: UNSIGNED },
      KNOWN,
    ],
    [
      'of another address there does not',
      { from: 'calendar-notification@google.com', headers: [TYPE], fields: UNSIGNED },
      '',
    ],
    [
      'and a second type above the signed one does not',
      { headers: [TYPE], replaced: [TYPE, `Content-Type: text/xml\r\n${TYPE}`] },
      '',
    ],
    [
      'and a type that it does not have does not',
      { headers: [], replaced: ['From:', `${TYPE}\r\nFrom:`] },
      '',
    ],
    [
      'and a second spelling of its type counts, which the reader then does not know',
      { headers: [TYPE], replaced: ['From:', 'ContentType: text/xml\r\nFrom:'] },
      ADDRESS,
    ],
    [
      'does not behind a line of a mailbox, where the reader sees mails that nobody signed',
      { headers: [TYPE], replaced: [/^/, 'From a\r\n'] },
      '',
    ],
    [
      'does not behind a line that is no field: an archive or a report could be there',
      { headers: [TYPE], replaced: [/^/, '<feedback></feedback>\r\n'] },
      '',
    ],
    ['of a body without fields about it counts', { headers: [], fields: UNSIGNED }, ADDRESS],
    ['with the encoding of one part counts', { headers: ONE_PART }, ADDRESS],
    [
      'without the encoding of one part does not',
      { headers: ONE_PART, fields: ['From', 'Content-Type'] },
      '',
    ],
    [
      'of several parts counts without an encoding, which they have themselves',
      { headers: [TYPE, 'Content-Transfer-Encoding: 8bit'], fields: ['From', 'Content-Type'] },
      ADDRESS,
    ],
  ])('%s', async (_what, given, from) => {
    expect(await aVerifier({ zone }).verify(await exchange(given))).toBe(from);
  });
});

describe('the address of the client', () => {
  const client = { remoteAddress: '192.0.2.7', helo: 'mx.reporter.example' };
  test.each<[string, Envelope, string | undefined]>([
    ['that SPF allows counts', { ...client, sender: 'a@reporter.example' }, ADDRESS],
    ['counts for HELO without a sender', { ...client, sender: '' }, ADDRESS],
    ['of another domain does not count', { ...client, sender: 'a@other.example' }, ''],
    [
      'that SPF does not allow does not count',
      { sender: 'a@reporter.example', remoteAddress: '192.0.2.8' },
      '',
    ],
    [
      'of a relay is not asked for',
      { sender: 'a@reporter.example', remoteAddress: '10.0.0.1' },
      '',
    ],
    ['is not decided without DNS', { ...client, sender: 'a@late.reporter.example' }, undefined],
  ])('%s', async (_what, envelope, from) => {
    expect(await aVerifier({ envelope }).verify(aMail())).toBe(from);
  });
});

describe('what a server of the operator found', () => {
  const trustedServers = ['mx.operator.example', 'forwarder.example'];
  const field = (text: string) => with_(`Authentication-Results: ${text}`, aMail());
  const passed = 'dkim=pass (2048-bit key) header.d=reporter.example header.s=s1';

  test.each<[string, Buffer, string]>([
    ['counts', field(`mx.operator.example; ${passed}`), ADDRESS],
    ['counts with a version', field(`mx.operator.example 1; spf=fail; ${passed}`), ADDRESS],
    [
      'counts for SPF',
      field('mx.operator.example; spf=pass smtp.mailfrom=a@reporter.example'),
      ADDRESS,
    ],
    [
      'does not count when it failed',
      field('mx.operator.example; dkim=fail header.d=reporter.example'),
      '',
    ],
    ['does not count of another server', field(`mx.other.example; ${passed}`), ''],
    [
      'does not count for another domain',
      field('mx.operator.example; dkim=pass header.d=other.example'),
      '',
    ],
    [
      'does not count below a field of the same server',
      with_(
        'Authentication-Results: mx.operator.example; dkim=none',
        field(`mx.operator.example; ${passed}`),
      ),
      '',
    ],
    [
      'does not count with text of the sender',
      field(`mx.operator.example; spf=fail smtp.mailfrom="x; ${passed} y"@other.example`),
      '',
    ],
  ])('%s', async (_what, bytes, from) => {
    expect(await aVerifier({ trustedServers }).verify(bytes)).toBe(from);
  });

  test('does not count in a mail that came from outside to the SMTP door', async () => {
    const envelope = { remoteAddress: '192.0.2.9', sender: 'a@evil.example' };
    const bytes = field(`mx.operator.example; ${passed}`);
    expect(await aVerifier({ trustedServers, envelope }).verify(bytes)).toBe('');
  });

  async function sealed(domain: string): Promise<Buffer> {
    const seal = await arc.sealMessage(aMail(), {
      ...{ signingDomain: domain, selector: SELECTOR, privateKey: KEY.privateKey, cv: 'none' },
      authResults: `mx.${domain}; ${passed}`,
    });
    return Buffer.concat([seal, aMail()]);
  }

  test('counts under its seal (ARC), and under that of nobody else', async () => {
    const { verify } = aVerifier({ trustedServers });
    expect(await verify(await sealed('forwarder.example'))).toBe(ADDRESS);
    expect(await verify(await sealed('other.example'))).toBe('');
    const changed = Buffer.concat([await sealed('forwarder.example'), Buffer.from('more\r\n')]);
    expect(await verify(changed)).toBe('');
  });
});

test('no mail asks more than thirty questions', async () => {
  const include = Array.from({ length: 10 }, (_, i) => `mx:m${i}.example`).join(' ');
  const asked: string[] = [];
  const verify = createVerifier({
    ask: async (name, type) => {
      asked.push(name);
      if (type === 'TXT') return [[`v=spf1 ${include} -all`]];
      if (type !== 'MX') return ['198.51.100.1'];
      return Array.from({ length: 10 }, (_, i) => ({ exchange: `${i}.${name}`, priority: i }));
    },
    ...{ check: localParser.check, trustedServers: [], trustedNetworks: [] },
  });
  const envelope = { sender: 'a@reporter.example', remoteAddress: '192.0.2.7' };
  const [verdict] = await verify([{ bytes: aMail(), envelope, receivedAt: NOW }]);
  expect(verdict?.from).toBe('');
  expect(asked.length).toBeLessThanOrEqual(30);
  expect(asked.length).toBeGreaterThan(20);
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['bytes', Buffer.from([0xff, 0, 0x0d, 0x0a, 0x0d, 0x0a])],
  ['no fields', Buffer.from('\r\n\r\nx')],
  ['a field without a value', Buffer.from('DKIM-Signature:\r\nFrom:\r\nARC-Seal: i=1\r\n\r\nx')],
  [
    'a name of 10,000 labels',
    Buffer.from(
      `From: a@${'a.'.repeat(10_000)}example\r\nDKIM-Signature: v=1; a=rsa-sha256; d=${'a.'.repeat(9_000)}b; s=${'s'.repeat(300)}; h=from; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=AA\r\n\r\n`,
    ),
  ],
])('a mail with %s throws nothing', async (_what, bytes) => {
  const envelope = { remoteAddress: '192.0.2.7', sender: '"@"@\0', helo: '[192.0.2.7]' };
  expect(await aVerifier({ envelope, trustedServers: ['a.example'] }).verify(bytes)).toBe('');
});
