import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  loadOrganizationalDomains,
  type ToOrganizationalDomain,
} from '../../../src/domain/dns/organizational-domain.ts';
import { createFaults } from '../../../src/domain/dns/sender-record-texts.ts';
import type { ToldRecords } from '../../../src/domain/dns/sender-records.ts';
import type { ReasonCode, Verdict } from '../../../src/domain/senders/sender.ts';
import { type Advice, advise } from '../../../src/domain/sources/advice.ts';
import type { Evidence, Signature } from '../../../src/domain/sources/evidence.ts';
import type { Mark } from '../../../src/domain/sources/source.ts';

let toOrganizationalDomain: ToOrganizationalDomain;

beforeAll(async () => {
  toOrganizationalDomain = await loadOrganizationalDomains({ allowPrivateDomains: true });
});

interface Results {
  readonly spf?: readonly [domain: string | null, result: string | null];
  readonly dkim?: readonly (readonly [
    domain: string | null,
    selector: string | null,
    result: string,
  ])[];
  /** What passed with alignment. */
  readonly aligned?: 'spf' | 'dkim' | 'both';
  readonly from?: string | null;
  readonly messages?: number;
}

function evidence({ spf, dkim = [], aligned, from = 'example.com', messages = 10 }: Results) {
  const toSignature = ([domain, selector, result]: NonNullable<Results['dkim']>[number]) =>
    ({ domain, selector, result }) satisfies Signature;
  return {
    headerFrom: from,
    spf: {
      domain: spf?.[0] ?? null,
      result: spf?.[1] ?? null,
      isAligned: aligned === 'spf' || aligned === 'both',
    },
    dkim: dkim.map(toSignature),
    isDkimAligned: aligned === 'dkim' || aligned === 'both',
    isForwarded: false,
    messages,
  } satisfies Evidence;
}

interface Situation {
  readonly mark?: Mark;
  readonly verdict?: Verdict;
  readonly reason?: ReasonCode;
  readonly spfMode?: 'r' | 's';
  readonly dkimMode?: 'r' | 's';
  readonly records?: ToldRecords;
}

function ask(
  given: readonly Results[],
  {
    mark,
    verdict = 'not_recognised',
    reason,
    spfMode = 'r',
    dkimMode = 'r',
    records,
  }: Situation = {},
) {
  return advise(given.map(evidence), {
    domain: 'example.com',
    modes: { dkim: dkimMode, spf: spfMode },
    toOrganizationalDomain,
    mark: mark ?? null,
    verdict,
    ...(reason && { reason }),
    findFault: createFaults(records),
    who: 'Mailer',
  });
}

/** The text with names in quotes. */
function toText({ text }: Advice): string {
  return text.map((part) => (typeof part === 'string' ? part : `“${part.name}”`)).join('');
}

const tell = (given: Results, situation?: Situation) => {
  const [advice] = ask([given], situation);
  return advice && [advice.tone, advice.title, toText(advice)];
};

test.each<Verdict>(['yours', 'needs_setup'])(
  'of a broken signature at a sender of the owner’s (%s) is to compare the key',
  (verdict) => {
    const broken: Results = {
      ...{ spf: ['mailer.example', 'pass'], dkim: [['example.com', 's1', 'fail']] },
    };
    expect(tell(broken, { verdict })?.[2]).toBe(
      'Messages are signed as “example.com” (selector “s1”), but the signature does not verify (“fail”): the key in DNS is probably not the one that signs. Compare them where this sender is set up; if they are the same, find out what changes its messages after they are signed.',
    );
  },
);

describe('with what checks of DNS found', () => {
  const name = { domain: 'example.com', isProven: true };
  const key = (
    state: 'missing' | 'revoked' | 'found',
    bits: number | null = null,
  ): ToldRecords => ({
    spf: [],
    keys: [
      {
        ...name,
        selector: 's1',
        confirmed: { state, bits, findings: bits === 512 ? ['short'] : [] },
      },
    ],
  });
  const broken: Results = { dkim: [['example.com', 's1', 'fail']] };
  const why =
    'Messages are signed as “example.com” (selector “s1”), and no receiver can verify that: ';

  test.each([
    [
      key('missing'),
      's1._domainkey.example.com has no key: ask Mailer for it, and publish it there.',
    ],
    [
      key('revoked'),
      's1._domainkey.example.com is revoked (its p= is empty): ask Mailer for the new key and its selector.',
    ],
    [
      key('found', 512),
      's1._domainkey.example.com has a key of 512 bits, and receivers take none under 1,024: ask Mailer for one of 2,048.',
    ],
  ])('the fault of a key is said', (records, text) => {
    expect(tell(broken, { verdict: 'yours', records })).toEqual([
      ...['act', 'The key in DNS is at fault', `${why}${text}`],
    ]);
  });

  test('a key that nobody published may be of somebody who claims to sign', () => {
    expect(tell(broken, { records: key('missing') })?.[2]).toMatch(
      /If you do not know this sender, somebody claims to sign as you, and there is nothing to publish.$/,
    );
  });

  test('a key without a fault, and one that nobody asked DNS for, change nothing', () => {
    for (const records of [key('found', 2048), { spf: [], keys: [] }])
      expect(tell(broken, { verdict: 'yours', records })?.[1]).toBe(
        'The signature does not verify',
      );
  });

  test('why SPF cannot be read is said', () => {
    const findings = [{ code: 'no_record', at: 'include:x.example.net' }] as const;
    const confirmed = { record: 'v=spf1 -all', lookups: 1, voidLookups: 1, findings };
    const records = { spf: [{ ...name, selector: null, confirmed }], keys: [] };
    const told = tell({ spf: ['example.com', 'permerror'] }, { verdict: 'yours', records });
    expect(told).toEqual([
      'act',
      'The SPF record cannot be read',
      'The SPF record of example.com has include:x.example.net, where no SPF record is, so SPF fails there (permerror). Remove it, or correct the name.',
    ]);
  });
});

describe('advice on messages that fail', () => {
  test.each<[string, Results, string, string]>([
    [
      'SPF of another domain',
      { spf: ['bounces.mailer.example', 'pass'] },
      'SPF passes for another domain',
      'SPF passes for “bounces.mailer.example”, which is not aligned with “example.com”: if you use this service, set a custom bounce domain there, or sign with DKIM as “example.com”. If you do not know it, ask who uses it.',
    ],
    [
      'DKIM of another domain',
      { spf: [null, 'none'], dkim: [['mailer.example', 'k1', 'pass']] },
      'DKIM passes for another domain',
      'DKIM passes for “mailer.example” (selector “k1”), which is not aligned with “example.com”: have the service sign as “example.com” with a key of its own. If you do not know this service, ask who uses it.',
    ],
    [
      'both of another domain',
      { spf: ['b.mailer.example', 'pass'], dkim: [['mailer.example', 'k1', 'pass']] },
      'A service that signs and sends as itself',
      'SPF passes for “b.mailer.example” and DKIM for “mailer.example”, neither of which is aligned with “example.com”: if you use this service, set a custom bounce domain there, or sign with DKIM as “example.com”. If you do not know it, ask who uses it.',
    ],
    [
      'a signature of the own domain that breaks',
      { spf: ['example.com', 'fail'], dkim: [['example.com', 's1', 'fail']] },
      'The signature does not verify',
      'Messages are signed as “example.com” (selector “s1”), but the signature does not verify (“fail”), and anybody can write or copy one: do you know this sender? If it is yours, it changes what was signed, or has no key of yours: have it sign as “example.com” itself. If not, somebody passes these messages on and changes them, or forges them.',
    ],
    [
      'a signature of a subdomain that breaks at a mailing list',
      { spf: ['lists.example.org', 'pass'], dkim: [['mail.example.com', null, 'fail']] },
      'The signature does not verify',
      'Messages are signed as “mail.example.com”, but the signature does not verify (“fail”), and anybody can write or copy one: do you know this sender? If it is yours, it changes what was signed, or has no key of yours: have it sign as “example.com” itself. If not, somebody passes these messages on and changes them, or forges them.',
    ],
    [
      'a key that nobody can read',
      { spf: ['example.com', 'softfail'], dkim: [['example.com', 's1', 'permerror']] },
      'The signing key cannot be read',
      'Messages are signed as “example.com” (selector “s1”), but the signature does not verify (“permerror”), and anybody can write or copy one: do you know this sender? If it is yours, it changes what was signed, or has no key of yours: have it sign as “example.com” itself. If not, somebody passes these messages on and changes them, or forges them.',
    ],
    [
      'SPF of the own domain that does not pass',
      { spf: ['example.com', 'softfail'] },
      'SPF does not list this address',
      'The SPF record of “example.com” does not list this address (“softfail”), and nothing is signed by DKIM. Do you know this sender? If it is a forgotten system of yours, add the address to the SPF record of “example.com”, and sign its messages with DKIM as “example.com”. If not, a policy of quarantine or reject keeps these messages from readers.',
    ],
    [
      'nothing at all',
      {},
      'Nothing authenticates',
      'Neither SPF nor DKIM passes for any domain. Do you know this sender? If it is a forgotten system of yours, sign its messages with DKIM as “example.com”. If not, a policy of quarantine or reject keeps these messages from readers.',
    ],
    [
      'SPF of the own domain, whose record is broken',
      { spf: ['bounce.example.com', 'permerror'] },
      'The SPF record cannot be read',
      'Receivers could not read the SPF record of “bounce.example.com” (“permerror”), so they did not learn whether it allows this address: check that there is only one, that its syntax is right, and that it needs at most ten DNS look-ups, all of which are answered.',
    ],
    [
      'SPF of the own bounce domain, and a signature of another domain that fails',
      { spf: ['bounce.example.com', 'softfail'], dkim: [['mailer.example', 'k1', 'fail']] },
      'SPF does not list this address',
      'The SPF record of “bounce.example.com” does not list this address (“softfail”), and no DKIM signature passes. Do you know this sender? If it is a forgotten system of yours, add the address to the SPF record of “bounce.example.com”, and sign its messages with DKIM as “example.com”. If not, a policy of quarantine or reject keeps these messages from readers.',
    ],
    [
      'SPF of another domain that does not pass: its record is not ours',
      { spf: ['esp.test', 'softfail'] },
      'Nothing authenticates',
      'Neither SPF nor DKIM passes for any domain. Do you know this sender? If it is a forgotten system of yours, sign its messages with DKIM as “example.com”. If not, a policy of quarantine or reject keeps these messages from readers.',
    ],
    [
      'SPF of a subdomain, when alignment was strict',
      { spf: ['bounces.example.com', 'pass'] },
      'Alignment was strict',
      'SPF passes for “bounces.example.com”, which is of the same organisation as “example.com” but not the same domain, and alignment was strict when that was reported. If newer messages fail, too, use “example.com” itself there.',
    ],
    [
      'SPF of the very domain, which the receiver did not count',
      { spf: ['example.com', 'pass'] },
      'The receiver did not count a pass',
      'SPF passes for “example.com” itself, but the receiver did not count it: that is its own decision or its mistake. See who reported it before you change anything.',
    ],
    [
      'DKIM of the very domain, which the receiver did not count',
      { dkim: [['example.com', 's1', 'pass']] },
      'The receiver did not count a pass',
      'DKIM passes for “example.com” itself, but the receiver did not count it: that is its own decision or its mistake. See who reported it before you change anything.',
    ],
    [
      'a name below the same private suffix, which is of a stranger',
      { from: 'one.github.io', spf: ['two.github.io', 'pass'] },
      'SPF passes for another domain',
      'SPF passes for “two.github.io”, which is not aligned with “one.github.io”: if you use this service, set a custom bounce domain there, or sign with DKIM as “one.github.io”. If you do not know it, ask who uses it.',
    ],
    [
      'messages from a subdomain: alignment is with it',
      { from: 'shop.example.com', spf: ['mailer.example', 'pass'] },
      'SPF passes for another domain',
      'SPF passes for “mailer.example”, which is not aligned with “shop.example.com”: if you use this service, set a custom bounce domain there, or sign with DKIM as “shop.example.com”. If you do not know it, ask who uses it.',
    ],
    [
      'no header From: alignment is with the monitored domain',
      { from: null, spf: ['mailer.example', 'pass'] },
      'SPF passes for another domain',
      'SPF passes for “mailer.example”, which is not aligned with “example.com”: if you use this service, set a custom bounce domain there, or sign with DKIM as “example.com”. If you do not know it, ask who uses it.',
    ],
  ])('%s', (_name, results, title, text) => {
    expect(tell(results)).toEqual(['act', title, text]);
  });

  test('names the domain itself when the published alignment of SPF is strict', () => {
    const [, , text] = tell({ spf: ['mailer.example', 'pass'] }, { spfMode: 's' }) ?? [];
    expect(text).toBe(
      'SPF passes for “mailer.example”, which is not aligned with “example.com”: if you use this service, use “example.com” itself as bounce domain there, because alignment of SPF is strict (aspf=s), or sign with DKIM as “example.com”. If you do not know it, ask who uses it.',
    );
  });

  test.each<[string, Results, Situation, RegExp]>([
    [
      'SPF',
      { spf: ['bounces.example.com', 'pass'] },
      { spfMode: 's' },
      /strict when that was reported: use “example.com” itself there, or publish “aspf=r” in/,
    ],
    [
      'DKIM',
      { dkim: [['mail.example.com', 's1', 'pass']] },
      { dkimMode: 's' },
      /strict when that was reported: use “example.com” itself there, or publish “adkim=r” in/,
    ],
  ])(
    'publishes relaxed alignment of %s only where it is strict',
    (_name, results, strict, text) => {
      expect(tell(results, strict)?.[2]).toMatch(text);
      expect(tell(results)?.[2]).not.toContain('publish');
    },
  );

  test('leaves SPF out when it cannot be aligned', () => {
    const results: Results = { spf: ['bounce.example.com', 'softfail'] };
    const [, , text] = tell(results, { spfMode: 's', mark: 'legitimate' }) ?? [];
    expect(text).toMatch(/You marked it as legitimate: sign its messages with DKIM/);
  });

  test('of a source that is marked as legitimate', () => {
    const [, , text] = tell({ spf: ['example.com', 'fail'] }, { mark: 'legitimate' }) ?? [];
    expect(text).toMatch(
      /You marked it as legitimate: add the address to the SPF record of “example.com”/,
    );
  });

  test.each([
    ['forged', 'Somebody else sends as the domain'],
    ['passed_on', 'Mail that is passed on'],
  ] as const)('of mail that is %s has no set-up, whatever its results', (verdict, title) => {
    const results: readonly Results[] = [
      { spf: ['mailer.example', 'pass'], dkim: [['mailer.example', 'k1', 'pass']] },
      { dkim: [['mailer.example', 'k1', 'pass']] },
      { spf: ['example.com', 'softfail'] },
      {},
    ];
    const advice = ask(results, { verdict });
    expect(advice.map((one) => [one.tone, one.title])).toEqual([['leave', title]]);
    expect(advice.map(toText).join()).not.toMatch(/bounce domain|sign|SPF record/);
  });
});

test('nothing is to be mended where a receiver got no answer for a key with which other messages verify', () => {
  const failed: Results = { dkim: [['example.com', 's1', 'temperror']] };
  const passed: Results = { aligned: 'dkim', dkim: [['example.com', 's1', 'pass']] };
  const textOf = (results: readonly Results[]) => ask(results, { verdict: 'yours' }).map(toText)[0];
  expect(textOf([failed, passed])).toMatch(
    /\(selector “s1”\), but a receiver got no answer for the key \(temperror\): other messages verify with it/,
  );
  expect(textOf([failed])).toMatch(/the name servers answer for “s1\._domainkey\.example\.com”/);
});

test('a private address and another domain of the owner’s have advice of their own', () => {
  const inside = { verdict: 'needs_setup', reason: 'private_address' } as const;
  expect(ask([{ spf: ['example.com', 'fail'] }], inside).map(toText)[0]).toMatch(
    /SPF cannot list it\. If it is yours, sign its messages with DKIM as “example\.com”/,
  );
  const sister = { verdict: 'needs_setup', reason: 'signed_as_sister' } as const;
  expect(ask([{ dkim: [['brand.example', 's1', 'pass']] }], sister).map(toText)[0]).toMatch(
    /authenticated as “brand\.example”: sign them with DKIM as “example\.com”/,
  );
});

test('a server of the owner’s that nothing authenticates is added to SPF', () => {
  const [, , text] = tell({ spf: ['example.com', 'fail'] }, { verdict: 'needs_setup' }) ?? [];
  expect(text).toMatch(
    /It is a sender of yours: add the address to the SPF record of “example.com”/,
  );
});

describe('advice on messages that pass', () => {
  test.each<[string, Results, string, string, RegExp]>([
    [
      'by both',
      { aligned: 'both', spf: ['example.com', 'pass'], dkim: [['example.com', 's', 'pass']] },
      'good',
      'All passes',
      /^SPF and DKIM both pass and are aligned with “example.com”/,
    ],
    [
      'by DKIM, with SPF that fails: forwarding',
      { aligned: 'dkim', spf: ['example.com', 'fail'], dkim: [['example.com', 's', 'pass']] },
      'good',
      'Probably forwarded',
      /SPF does not \(“fail”\): that is what forwarding looks like/,
    ],
    [
      'by DKIM, with an own SPF record that nobody can read: not forwarding',
      { aligned: 'dkim', spf: ['example.com', 'permerror'], dkim: [['example.com', 's', 'pass']] },
      'improve',
      'DKIM passes, the SPF record cannot be read',
      /^DKIM passes for “example.com”, so the messages pass. Receivers could not read the SPF record of “example.com” \(“permerror”\)/,
    ],
    [
      'by DKIM, with an SPF record of another domain that nobody can read',
      { aligned: 'dkim', spf: ['lists.test', 'permerror'], dkim: [['example.com', 's', 'pass']] },
      'good',
      'Probably forwarded',
      /SPF does not \(“permerror”\): that is what forwarding looks like/,
    ],
    [
      'by DKIM, with SPF of another domain',
      { aligned: 'dkim', spf: ['mailer.example', 'pass'], dkim: [['example.com', 's', 'pass']] },
      'good',
      'DKIM passes, SPF is of another domain',
      /SPF passes for “mailer.example”, which is not aligned: that is usual/,
    ],
    [
      'by DKIM, with SPF of a subdomain under strict alignment',
      { aligned: 'dkim', spf: ['b.example.com', 'pass'], dkim: [['example.com', 's', 'pass']] },
      'good',
      'DKIM passes',
      /although SPF did not count/,
    ],
    [
      'by SPF, without a signature',
      { aligned: 'spf', spf: ['example.com', 'pass'] },
      'improve',
      'Only SPF passes',
      /no signature does: sign with DKIM as “example.com”/,
    ],
    [
      'by SPF, with a broken signature',
      { aligned: 'spf', spf: ['example.com', 'pass'], dkim: [['example.com', 's1', 'fail']] },
      'improve',
      'Only SPF passes, the signature does not verify',
      /the signature of “example.com” with the selector “s1” does not verify \(“fail”\)/,
    ],
    [
      'by SPF, with a key that nobody can read',
      { aligned: 'spf', spf: ['example.com', 'pass'], dkim: [['example.com', 's1', 'temperror']] },
      'improve',
      'Only SPF passes, the signing key cannot be read',
      /could not read the key \(“temperror”\): check the TXT record “s1._domainkey.example.com”/,
    ],
    [
      'by SPF, with a signature of another domain',
      { aligned: 'spf', spf: ['example.com', 'pass'], dkim: [['mailer.example', 's1', 'pass']] },
      'improve',
      'Only SPF passes, DKIM is of another domain',
      /DKIM signs as “mailer.example”, which is not aligned: sign as “example.com” too/,
    ],
  ])('%s', (_name, results, tone, title, text) => {
    expect(tell(results)).toEqual([tone, title, expect.stringMatching(text)]);
  });
});

describe('advice on a source', () => {
  test('is about failing messages first, then by messages, and says the same once', () => {
    const advice = ask([
      { aligned: 'both', messages: 1_000 },
      { spf: ['mailer.example', 'pass'], messages: 5 },
      { messages: 20 },
      { spf: ['mailer.example', 'pass'], messages: 30 },
      { aligned: 'spf', messages: 900 },
    ]);
    expect(advice.map(({ tone, messages }) => [tone, messages])).toEqual([
      ['act', 35],
      ['act', 20],
      ['improve', 900],
      ['good', 1_000],
    ]);
  });

  test('is bounded, and empty without messages', () => {
    const many = Array.from({ length: 40 }, (_, i) => ({
      spf: [`m${i}.example`, 'pass'] as const,
    }));
    expect(ask(many)).toHaveLength(6);
    expect(ask([{ messages: 0 }])).toEqual([]);
  });

  test('is given for whatever reporters state, and its tone is that of the messages', () => {
    const name = fc.option(
      fc.constantFrom('example.com', 'a.example.com', 'mailer.example', '', '\u202e<b>', 'com'),
    );
    const result = fc.option(fc.constantFrom('pass', 'fail', 'none', 'permerror', 'x'));
    const any = fc.record({
      headerFrom: name,
      spf: fc.record({ domain: name, result, isAligned: fc.boolean() }),
      dkim: fc.array(fc.record({ domain: name, selector: name, result }), { maxLength: 3 }),
      isForwarded: fc.boolean(),
      isDkimAligned: fc.boolean(),
      messages: fc.integer({ min: 1, max: 1_000 }),
    });
    fc.assert(
      fc.property(any, fc.constantFrom(null, 'legitimate' as const), (one, mark) => {
        const modes = { dkim: 'r', spf: 'r' } as const;
        const asked = {
          domain: 'example.com',
          modes,
          toOrganizationalDomain,
          mark,
          verdict: 'not_recognised',
        } as const;
        const [advice, ...more] = advise([one], asked);
        expect(more).toEqual([]);
        expect(advice?.tone === 'act').toBe(!one.isDkimAligned && !one.spf.isAligned);
        expect(advice && toText(advice)).not.toMatch(/undefined|null|\bas “”/);
      }),
      { numRuns: 300 },
    );
  });
});
