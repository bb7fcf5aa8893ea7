import { beforeAll, describe, expect, test } from 'vitest';
import {
  loadOwnerDomains,
  type ToOrganizationalDomain,
} from '../../../src/domain/dns/organizational-domain.ts';
import type { Sighting } from '../../../src/domain/sources/evidence.ts';
import type { NamedService } from '../../../src/domain/sources/service-name.ts';
import type { Mark } from '../../../src/domain/sources/source.ts';
import { createJudge, type Verdict } from '../../../src/domain/sources/verdict.ts';

let toOrganizationalDomain: ToOrganizationalDomain;

beforeAll(async () => {
  toOrganizationalDomain = await loadOwnerDomains();
});

interface Mail {
  readonly spf?: readonly [domain: string, result: string];
  readonly dkim?: readonly [domain: string, result: string];
  readonly aligned?: 'spf' | 'dkim' | 'both';
  readonly messages?: number;
  readonly isForwarded?: boolean;
}

function toEvidence({ spf, dkim, aligned, messages = 100, isForwarded = false }: Mail): Sighting {
  const [domain = null, result = null] = spf ?? [];
  const seen = {
    headerFrom: 'example.com',
    spf: { domain, result, isAligned: aligned === 'spf' || aligned === 'both' },
    dkim: dkim === undefined ? [] : [{ domain: dkim[0], selector: 's', result: dkim[1] }],
    isDkimAligned: aligned === 'dkim' || aligned === 'both',
    isForwarded,
  };
  return { seen, messages };
}

interface Known {
  readonly mark?: Mark;
  readonly service?: NamedService;
  readonly name?: string;
}

function judge(mail: readonly Mail[], { mark, service, name }: Known = {}): Verdict {
  const results = mail.map(toEvidence);
  const asked = {
    domain: 'example.com',
    modes: { dkim: 'r', spf: 'r' },
    toOrganizationalDomain,
  } as const;
  return createJudge(asked)({ results, mark: mark ?? null, service, name }).verdict;
}

const MAILER: NamedService = {
  ...{ name: 'Mailer', kind: 'marketing' },
  ...{ by: 'spf', domain: 'mailer.example' },
};
const BY_DNS: NamedService = { ...MAILER, by: 'dns' };
const FORWARDER: NamedService = { ...MAILER, kind: 'forwarder' };

const PASSES: Mail = {
  aligned: 'both',
  spf: ['example.com', 'pass'],
  dkim: ['example.com', 'pass'],
};
const SIGNED: Mail = {
  aligned: 'dkim',
  spf: ['mailer.example', 'pass'],
  dkim: ['example.com', 'pass'],
};
const CARRIED: Mail = {
  aligned: 'dkim',
  spf: ['example.com', 'fail'],
  dkim: ['example.com', 'pass'],
};
const CHANGED: Mail = { spf: ['lists.example', 'pass'], dkim: ['example.com', 'fail'] };
const FOREIGN: Mail = { spf: ['mailer.example', 'pass'], dkim: ['mailer.example', 'fail'] };
const REFUSED: Mail = { spf: ['example.com', 'fail'] };

describe('the verdict on a source', () => {
  test.each<[string, readonly Mail[], Known, Verdict]>([
    ['passes', [PASSES], {}, 'yours'],
    ['passes by a service that signs as the domain', [SIGNED], { service: MAILER }, 'yours'],
    ['passes partly', [{ ...PASSES, messages: 1 }, FOREIGN], {}, 'yours'],
    ['passes and is marked as unknown', [PASSES], { mark: 'unknown' }, 'forger'],
    ['carries a signature through', [CARRIED], {}, 'forwarder'],
    ['changes signed messages, as mailing lists do', [CHANGED], {}, 'forwarder'],
    ['is forwarded, as receivers say', [{ ...REFUSED, isForwarded: true }], {}, 'forwarder'],
    ['is forwarded in part', [{ ...REFUSED, isForwarded: true }, REFUSED], {}, 'forger'],
    ['is forwarded, and passes as often', [{ ...REFUSED, isForwarded: true }, PASSES], {}, 'yours'],
    ['forwards, and is marked as legitimate', [CHANGED], { mark: 'legitimate' }, 'yours'],
    ['is a service that forwards', [SIGNED], { service: FORWARDER }, 'forwarder'],
    [
      'names a key that nobody can read, as anybody can',
      [{ dkim: ['example.com', 'permerror'] }],
      {},
      'unclear',
    ],
    [
      'has a signature that breaks, as anybody can write',
      [{ dkim: ['example.com', 'fail'] }],
      {},
      'unclear',
    ],
    ['has SPF that strict alignment refuses', [{ spf: ['b.example.com', 'pass'] }], {}, 'yours'],
    ['is a known service', [FOREIGN], { service: MAILER }, 'service'],
    [
      'is a known service, with few messages',
      [{ ...FOREIGN, messages: 1 }],
      { service: MAILER },
      'service',
    ],
    [
      'is a service, fails, and is marked as legitimate',
      [FOREIGN],
      { service: MAILER, mark: 'legitimate' },
      'service',
    ],
    ['is marked as legitimate', [FOREIGN], { mark: 'legitimate' }, 'yours'],
    [
      'is a known service marked as unknown',
      [FOREIGN],
      { service: MAILER, mark: 'unknown' },
      'forger',
    ],
    ['is at a service by its name in DNS only', [REFUSED], { service: BY_DNS }, 'forger'],
    ['authenticates as somebody else', [FOREIGN], {}, 'forger'],
    [
      'authenticates as somebody else, with few messages',
      [{ ...FOREIGN, messages: 9 }],
      {},
      'unclear',
    ],
    ['is forbidden by SPF', [REFUSED], {}, 'forger'],
    [
      'is forbidden by SPF, with a name of the domain',
      [REFUSED],
      { name: 'old.example.com' },
      'yours',
    ],
    [
      'is forbidden by SPF, with a name of another',
      [REFUSED],
      { name: 'example.com.other.example' },
      'forger',
    ],
    ['is discouraged by SPF', [{ spf: ['example.com', 'softfail'] }], {}, 'unclear'],
    ['authenticates as nobody', [{}], {}, 'unclear'],
    ['sent nothing', [], {}, 'unclear'],
  ])('%s', (_name, mail, known, verdict) => {
    expect(judge(mail, known)).toBe(verdict);
  });

  test('has a reason', () => {
    const asked = {
      domain: 'example.com',
      modes: { dkim: 'r', spf: 'r' },
      toOrganizationalDomain,
    } as const;
    const mail = { results: [toEvidence(FOREIGN)], mark: null, service: MAILER, name: undefined };
    expect(createJudge(asked)(mail).reason).toEqual([
      'Its messages are authenticated as ',
      { name: 'mailer.example' },
      ', which is ',
      { name: 'Mailer' },
      '.',
    ]);
  });
});
