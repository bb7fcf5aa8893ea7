import { hash } from 'node:crypto';

/*
 * The mail of five made-up domains over ninety days. A figure depends only on how many days ago its day was, so
 * every start gives the same figures: values are hashes of their inputs, and quiet days are counted from today.
 */

export const DEMO_DAYS = 90;
/** Two days of each week have less mail. None of them is a day on which an alert fires. */
const QUIET_DAYS: ReadonlySet<number> = new Set([3, 4]);

export interface DemoReporter {
  /** undefined for a reporter that leaves out its name. */
  readonly org: string | undefined;
  readonly domain: string;
  readonly share: number;
}

export const REPORTERS: readonly DemoReporter[] = [
  { org: 'Northwind Mail', domain: 'northwind-mail.example', share: 0.48 },
  { org: 'Bluebird Post', domain: 'bluebird-post.example', share: 0.27 },
  { org: 'Harbour Webmail', domain: 'harbour-webmail.example', share: 0.17 },
  { org: undefined, domain: 'alpine.example', share: 0.08 },
];

/** A source of mail, and what records say of it. A `signature` of null: nobody signs. */
interface DemoSource {
  readonly ip: string;
  readonly messagesPerDay: number;
  readonly dkim: 'pass' | 'fail';
  readonly spf: 'pass' | 'fail';
  /** Who signs, by which selector: by default the domain itself. */
  readonly signature?: readonly [domain: string, selector: string] | null;
  /** The domain of MAIL FROM where SPF is not aligned; `own` for the domain itself, whose record does not allow the address. */
  readonly bounce?: string;
  /** Days before today on which its signatures are broken: first and last. */
  readonly broken?: readonly [number, number];
  /** Days before today on which it sends, unless it sends every day: first and last. */
  readonly seen?: readonly [number, number];
  /** The domain of the only reporter that sees it, and then all of its messages. */
  readonly reporter?: string | undefined;
  /** Whether receivers say that a mailing list sent it, and let it through. */
  readonly isOfList?: boolean;
}

function toSource(
  ip: string,
  messagesPerDay: number,
  [dkim, spf]: readonly [DemoSource['dkim'], DemoSource['spf']],
  others: Omit<DemoSource, 'ip' | 'messagesPerDay' | 'dkim' | 'spf'> = {},
): DemoSource {
  return { ip, messagesPerDay, dkim, spf, ...others };
}

/**
 * A botnet that uses the name of a domain and nothing else: each of its addresses, which are in networks of their own below
 * 2001:db8:1000::/36, sends one to three messages on one day.
 */
function toBotnet(addressesPerDay: number): DemoSource[] {
  return Array.from({ length: addressesPerDay * DEMO_DAYS }, (_, i) => {
    const network = (0x1000 + ((i * 37) % 0x1000)).toString(16);
    const daysAgo = 1 + Math.floor(i / addressesPerDay);
    const reporter = REPORTERS[i % REPORTERS.length]?.domain;
    const others = { signature: null, bounce: 'own', seen: [daysAgo, daysAgo], reporter } as const;
    return toSource(`2001:db8:${network}::25`, 1 + (i % 3), ['fail', 'fail'], others);
  });
}

type Policy = 'none' | 'quarantine' | 'reject';

export interface DemoDomain {
  readonly name: string;
  /** Each holds from so many days before today on. */
  readonly policies: readonly (readonly [daysAgo: number, policy: Policy])[];
  readonly sources: readonly DemoSource[];
}

export const DOMAINS: readonly DemoDomain[] = [
  {
    // On its way: every service is set up, so the policy could be raised.
    name: 'example.com',
    policies: [
      [DEMO_DAYS, 'none'],
      [60, 'quarantine'],
      [25, 'reject'],
    ],
    sources: [
      toSource('192.0.2.10', 1_400, ['pass', 'pass']),
      // The newsletter service, whose new key was not published for some days.
      toSource('198.51.100.25', 900, ['pass', 'fail'], {
        signature: ['example.com', 'news2'],
        bounce: 'newsletter.example',
        broken: [40, 37],
      }),
      // Two addresses of the help desk.
      ...['198.51.100.40', '198.51.100.41'].map((ip) =>
        toSource(ip, 110, ['pass', 'fail'], {
          signature: ['example.com', 'desk'],
          bounce: 'helpdesk.example',
        }),
      ),
      // Payroll has a bounce domain below the company's, and signs as itself.
      toSource('198.51.100.60', 35, ['fail', 'pass'], { signature: ['payroll.example', 'p1'] }),
      // A forwarder, which rewrites the sender and keeps the signature.
      toSource('203.0.113.7', 60, ['pass', 'fail'], { bounce: 'alumni.example' }),
      // A mailing list, which changes what it passes on, so that signatures break.
      toSource('203.0.113.12', 12, ['fail', 'fail'], {
        signature: ['example.com', 's1'],
        bounce: 'lists.example',
        isOfList: true,
      }),
      toSource('203.0.113.66', 25, ['fail', 'fail'], { signature: null }),
      // Somebody who used the company's name for three days.
      toSource('203.0.113.201', 90, ['fail', 'fail'], { signature: null, seen: [20, 18] }),
    ],
  },
  {
    name: 'shop.example',
    policies: [[DEMO_DAYS, 'none']],
    sources: [
      toSource('2001:db8:10::25', 500, ['pass', 'pass']),
      // A new invoicing tool, whose key is broken: more than a tenth of its mail fails.
      toSource('198.51.100.77', 260, ['pass', 'fail'], {
        signature: ['shop.example', 'inv1'],
        bounce: 'invoices.example',
        broken: [2, 1],
        seen: [18, 1],
      }),
      // A service for reviews that nobody has set up: it signs and sends as itself.
      toSource('198.51.100.90', 40, ['fail', 'fail'], {
        signature: ['reviews.example', 'k1'],
        bounce: 'reviews.example',
      }),
      // An old server that nobody remembers: no signature, and not in the SPF record.
      toSource('192.0.2.180', 9, ['fail', 'fail'], { signature: null, bounce: 'own' }),
      ...toBotnet(9),
    ],
  },
  {
    // Sends no mail, and others use its name.
    name: 'parked.example',
    policies: [[DEMO_DAYS, 'none']],
    sources: toBotnet(6),
  },
  {
    // All of its mail passes, so it can go to p=reject.
    name: 'studio.example',
    policies: [[DEMO_DAYS, 'quarantine']],
    sources: [
      toSource('192.0.2.30', 320, ['pass', 'pass']),
      toSource('198.51.100.26', 140, ['pass', 'fail'], {
        signature: ['studio.example', 'news1'],
        bounce: 'newsletter.example',
      }),
      toSource('203.0.113.8', 6, ['pass', 'fail'], { bounce: 'alumni.example' }),
    ],
  },
  {
    // A club with some messages a day.
    name: 'garden.example',
    policies: [[DEMO_DAYS, 'none']],
    sources: [toSource('192.0.2.40', 8, ['pass', 'pass'])],
  },
];

/** What people have said of some of them. */
export const MARKS = [
  { domain: 'example.com', subject: '192.0.2.10', mark: 'legitimate' },
  { domain: 'example.com', subject: '203.0.113.66', mark: 'unknown' },
] as const;

export interface DemoRecord
  extends Pick<DemoSource, 'ip' | 'dkim' | 'spf' | 'signature' | 'bounce' | 'isOfList'> {
  readonly count: number;
  readonly policy: Policy;
  /** The signature is of the domain itself, and does not verify. */
  readonly isBroken: boolean;
}

export function listRecords(
  domain: DemoDomain,
  reporter: DemoReporter,
  daysAgo: number,
): DemoRecord[] {
  const isQuiet = QUIET_DAYS.has(daysAgo % 7);
  const policy = findPolicy(domain, daysAgo);
  return domain.sources
    .filter(({ seen }) => seen === undefined || isBetween(daysAgo, seen))
    .filter((source) => (source.reporter ?? reporter.domain) === reporter.domain)
    .map(({ broken, seen: _, messagesPerDay, reporter: only, ...source }) => {
      const by = reporter.org ?? reporter.domain;
      const chance = 0.85 + 0.3 * chanceOf(domain.name, by, source.ip, daysAgo);
      const share = reporter.share * chance * (isQuiet ? 0.45 : 1);
      const count = only === undefined ? Math.round(messagesPerDay * share) : messagesPerDay;
      const isBroken = broken !== undefined && isBetween(daysAgo, broken);
      const dkim = isBroken ? ('fail' as const) : source.dkim;
      return { ...source, count, dkim, policy, isBroken };
    })
    .filter(({ count }) => count > 0);
}

export function findPolicy({ policies }: DemoDomain, daysAgo: number): Policy {
  return policies.findLast(([from]) => daysAgo <= from)?.[1] ?? 'none';
}

const isBetween = (daysAgo: number, [first, last]: readonly [number, number]): boolean =>
  daysAgo <= first && daysAgo >= last;

/** A number from 0 to 1 that depends only on the inputs. */
function chanceOf(...inputs: readonly (string | number)[]): number {
  return hash('sha256', inputs.join(' '), 'buffer').readUInt32BE(0) / 2 ** 32;
}
