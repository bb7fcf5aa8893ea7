import { server, service, toMain } from './domains.ts';
import type { Forgery, OwnSender, PlainDomain } from './model.ts';

/* Twelve ways in which others send in a domain's name, and twenty domains: ten that are ready, and ten with a sender that fails. */

const at =
  (...addresses: readonly string[]) =>
  () =>
    addresses;

/** Longer is no other question, and takes longer. */
const MONTH = [30, 1] as const;

/** Addresses of 240 sites. */
const scattered = (count: number) => () =>
  Array.from({ length: count }, (_, i) => `198.18.${i % 240}.${25 + Math.floor(i / 240)}`);

const neighbours = (count: number) => () =>
  Array.from({ length: count }, (_, i) => `203.0.113.${i + 1}`);

export const FORGERIES: Readonly<Record<string, Forgery>> = {
  'a signed mail, sent again by a crowd': {
    ...{ addresses: scattered(200), daily: 3_000, days: MONTH },
    results: 'spf=none:elsewhere.example dkim=pass:own:s1',
  },
  'a signed mail, sent again by one host': {
    ...{ addresses: at('203.0.113.50'), daily: 3_000, ptr: 'out.replay.example' },
    results: 'spf=pass:replay.example dkim=pass:own:s1',
  },
  'a signed mail, sent again from where a server of the owner’s is': {
    ...{ addresses: at('198.51.100.91', '198.51.100.92'), daily: 3_000 },
    ...{ ptr: 'ec2-91.eu-west-1.compute.amazonaws.com' },
    results: 'spf=none:elsewhere.example dkim=pass:own:s1',
  },
  'a signature copied by a crowd': {
    ...{ addresses: scattered(240), daily: 300, days: MONTH },
    results: 'spf=softfail:own dkim=fail:own:s1',
  },
  'a signature made up by a host that passes as itself': {
    ...{ addresses: at('203.0.113.60'), daily: 30, ptr: 'mx.spamhost.example' },
    results: 'spf=pass:spamhost.example dkim=fail:own:x1',
  },
  'a signature made up by sixty neighbours': {
    ...{ addresses: neighbours(60), daily: 120 },
    results: 'spf=pass:spamhost.example dkim=fail:own:x1',
  },
  'a stranger’s account at a known service': {
    ...{ addresses: at('198.51.100.40'), daily: 30 },
    results:
      'spf=pass:b.stranger-shop.example dkim=pass:stranger-shop.example:k1 dkim=pass:amazonses.com:x',
  },
  'a person with free mail': {
    ...{ addresses: at('209.85.220.41'), daily: 30, ptr: 'mail-sor-f41.google.com' },
    results: 'spf=pass:gmail.com dkim=pass:gmail.com:20230601',
  },
  'a botnet whose hosts pass as themselves': {
    ...{ addresses: scattered(300), daily: 600, days: MONTH },
    results: 'spf=pass:host*.provider*.example',
  },
  'a crowd in one network': {
    ...{ addresses: neighbours(60), daily: 300 },
    results: 'spf=none:own',
  },
  'a host that sends one mail a day': {
    ...{ addresses: at('192.0.2.200'), daily: 1, results: 'spf=softfail:own' },
  },
  'reports of nobody who is known': {
    ...{ addresses: at('192.0.2.77'), daily: 9_000, isDoubtful: true },
    results: 'spf=pass:own dkim=pass:own:p1',
  },
};

const SHOP = server('shop', 78, 's1');
const PAYROLL = server('payroll', 77, 'p1');
const SES = service(20, 'amazonses.com', 'a');
/** Its machine is at a host where anybody has some. */
const CLOUD = {
  ...server('cloud', 79, 's1'),
  ...{ addresses: ['198.51.100.90'], ptr: 'ec2-90.eu-west-1.compute.amazonaws.com' },
};

type Kind = typeof SHOP;

const aSender = ({ bad, ...kind }: Kind, daily: number, given: Partial<OwnSender> = {}) => ({
  ...{ ...kind, bad: bad[0] as string, daily, every: 1, last: 1 },
  ...given,
});

/** Senders besides the main one, which sends 900 a day. */
const OTHERS: readonly (readonly OwnSender[])[] = [
  [],
  [aSender(PAYROLL, 60)],
  [aSender(SHOP, 5, { every: 2 })],
  [aSender(SES, 400), aSender(PAYROLL, 20)],
  [aSender(CLOUD, 30)],
];
const FAILING: readonly (readonly OwnSender[])[] = [
  [aSender(PAYROLL, 60, { fails: [45, 1] })],
  [aSender(SHOP, 20, { fails: [3, 1] })],
  [aSender(SES, 100, { fails: [7, 1], bad: SES.bad[1] as string })],
  [aSender(PAYROLL, 2, { fails: [12, 1] }), aSender(SES, 900)],
  [aSender(CLOUD, 60, { fails: [5, 1] })],
];

let count = 0;

/** One with a forgery by its name, or without. */
export function listDomains(forgery?: string): readonly PlainDomain[] {
  return (['none', 'quarantine'] as const).flatMap((policy) =>
    [...OTHERS, ...FAILING].map((others): PlainDomain => {
      count += 1;
      const forgeries = forgery === undefined ? [] : [FORGERIES[forgery] as Forgery];
      const senders = [toMain(900), ...others];
      return { name: `f${count}.example`, policy, days: 45, senders, forgeries };
    }),
  );
}
