import fc from 'fast-check';
import type { OwnSender, PlainDomain } from './model.ts';

/* Random domains of the plain model: senders, shares, days and breaks. */

interface Kind {
  readonly ptr: string;
  readonly addresses: readonly string[];
  readonly good: string;
  readonly bad: readonly string[];
  readonly isNamed?: boolean;
}

export const server = (name: string, host: number, selector: string): Kind => ({
  ...{ isNamed: true, ptr: `${name}.own`, addresses: [`192.0.2.${host}`] },
  good: `spf=pass:own dkim=pass:own:${selector}`,
  bad: [
    'spf=permerror:own',
    'spf=fail:own',
    'spf=softfail:own dkim=permerror:own:s9',
    `spf=fail:own dkim=fail:own:${selector}`,
    'spf=pass:vps.hoster.example',
    'spf=none:own',
  ],
});

export const service = (host: number, domain: string, selector: string): Kind => ({
  ...{
    isNamed: true,
    ptr: `a${host}.${domain}`,
    addresses: [`198.51.100.${host}`, `198.51.100.${host + 1}`],
  },
  good: `spf=pass:${domain} dkim=pass:own:${selector} dkim=pass:${domain}:x`,
  bad: [
    `spf=pass:${domain} dkim=fail:own:${selector} dkim=pass:${domain}:x`,
    `spf=pass:${domain} dkim=permerror:own:new dkim=pass:${domain}:x`,
    `spf=pass:${domain} dkim=pass:${domain}:x`,
  ],
});

/** The first one always passes, and sends most. */
const MAIN: Kind = server('mail', 10, 's1');
const OTHERS: readonly Kind[] = [
  server('payroll', 77, 'p1'),
  server('shop', 78, 's1'),
  service(20, 'amazonses.com', 'a'),
  service(24, 'sendgrid.net', 'sg'),
  service(28, 'mail1.suw11.mcsv.net', 'k1'),
  service(36, 'zendesk.com', 'zd'),
  {
    ...{ ptr: 'mail-sor-f41.google.com', addresses: ['198.51.100.60'] },
    good: 'spf=pass:own dkim=pass:own:google',
    bad: ['spf=softfail:own dkim=fail:own:google', 'spf=fail:own'],
  },
  {
    ...{ ptr: 'us-1.mimecast.com', addresses: ['198.51.100.70'] },
    good: 'spf=pass:own dkim=pass:own:gw',
    bad: ['spf=softfail:own dkim=fail:own:gw', 'spf=permerror:own'],
  },
];

export const toMain = (daily: number): OwnSender => ({
  ...{ ...MAIN, bad: '', daily, every: 1, last: 1 },
});

const aSender = fc
  .record({
    kind: fc.constantFrom(...OTHERS),
    bad: fc.nat(5),
    daily: fc.constantFrom(1, 2, 5, 7, 20, 60, 400, 3_000, 20_000),
    every: fc.constantFrom(1, 1, 1, 2, 7, 28),
    last: fc.constantFrom(1, 1, 1, 2, 6, 20, 60, 80),
    fails: fc.constantFrom(undefined, undefined, 1, 2, 3, 5, 7, 12, 25, 60, 400),
    mended: fc.constantFrom(1, 1, 1, 1, 8, 15, 40),
    isUnsigned: fc.constantFrom(false, false, false, false, false, true),
  })
  .map(({ kind, bad, fails, mended, isUnsigned, ...sent }): OwnSender => {
    const { good, bad: all, ...of } = kind;
    // What passes by SPF alone is a server's.
    const rests = isUnsigned && of.ptr.endsWith('.own');
    return {
      ...{ ...of, ...sent, isUnsigned: rests },
      good: rests ? 'spf=pass:own' : good,
      bad: all[bad % all.length] as string,
      fails: fails === undefined || fails < mended ? undefined : [fails, mended],
    };
  });

let count = 0;

/** One sender of each kind at most. */
export const aPlainDomain = fc
  .record({
    policy: fc.constantFrom('none', 'quarantine', 'reject'),
    days: fc.constantFrom(60, 90, 125),
    main: fc.constantFrom(60, 400, 9_000, 50_000),
    others: fc.uniqueArray(aSender, { maxLength: 4, selector: ({ ptr }) => ptr }),
  })
  .map(({ policy, days, main, others }): PlainDomain => {
    count += 1;
    return {
      name: `d${count}.example`,
      policy,
      days,
      senders: [toMain(main), ...others],
      forgeries: [],
    };
  });
