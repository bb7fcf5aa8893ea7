import { hash } from 'node:crypto';

/*
 * The mail of two made-up companies over ninety days. A figure depends only on how many days ago its day was, so
 * every start gives the same figures: values are hashes of their inputs, and quiet days are counted from today.
 */

export const DEMO_DAYS = 90;
const DAYS_OF_WEEK = 7;
/** Two days of each week have less mail. None of them is a day on which an alert fires. */
const QUIET_DAYS: ReadonlySet<number> = new Set([3, 4]);

export interface Reporter {
  /** undefined for a reporter that leaves out its name. */
  readonly org: string | undefined;
  readonly domain: string;
  readonly share: number;
  readonly delivery: 'gzip' | 'plain' | 'mail';
}

export const REPORTERS: readonly Reporter[] = [
  { org: 'Northwind Mail', domain: 'northwind-mail.example', share: 0.48, delivery: 'gzip' },
  { org: 'Bluebird Post', domain: 'bluebird-post.example', share: 0.27, delivery: 'mail' },
  { org: 'Harbour Webmail', domain: 'harbour-webmail.example', share: 0.17, delivery: 'gzip' },
  { org: undefined, domain: 'alpine.example', share: 0.08, delivery: 'plain' },
];

interface Sender {
  readonly ip: string;
  readonly messagesPerDay: number;
  readonly dkim: 'pass' | 'fail';
  readonly spf: 'pass' | 'fail';
  /** Days before today on which its signatures are broken: first and last. */
  readonly broken?: readonly [number, number];
  /** Days before today on which it sends, unless it sends every day: first and last. */
  readonly seen?: readonly [number, number];
}

export interface DemoDomain {
  readonly name: string;
  readonly policy: 'none' | 'quarantine' | 'reject';
  readonly senders: readonly Sender[];
}

export const DOMAINS: readonly DemoDomain[] = [
  {
    name: 'example.com',
    policy: 'reject',
    senders: [
      { ip: '192.0.2.10', messagesPerDay: 1_400, dkim: 'pass', spf: 'pass' },
      // The newsletter service, whose new key was not published for some days.
      { ip: '198.51.100.25', messagesPerDay: 900, dkim: 'pass', spf: 'fail', broken: [40, 37] },
      // Forwarded mail: the address is not the sender's any more, but the signature is valid.
      { ip: '203.0.113.7', messagesPerDay: 60, dkim: 'pass', spf: 'fail' },
      { ip: '203.0.113.66', messagesPerDay: 25, dkim: 'fail', spf: 'fail' },
      // An attacker who forged the company's name for three days.
      { ip: '203.0.113.201', messagesPerDay: 90, dkim: 'fail', spf: 'fail', seen: [20, 18] },
    ],
  },
  {
    name: 'shop.example',
    policy: 'none',
    senders: [
      { ip: '2001:db8:10::25', messagesPerDay: 500, dkim: 'pass', spf: 'pass' },
      // A new invoicing tool that is not in the SPF record.
      { ip: '198.51.100.77', messagesPerDay: 260, dkim: 'pass', spf: 'fail', broken: [2, 1] },
      { ip: '203.0.113.99', messagesPerDay: 15, dkim: 'fail', spf: 'fail' },
    ],
  },
];

export interface DemoRecord extends Pick<Sender, 'ip' | 'dkim' | 'spf'> {
  readonly count: number;
}

export function listRecords(domain: DemoDomain, reporter: Reporter, daysAgo: number): DemoRecord[] {
  const isQuiet = QUIET_DAYS.has(daysAgo % DAYS_OF_WEEK);
  return domain.senders
    .filter(({ seen }) => seen === undefined || isBetween(daysAgo, seen))
    .map(({ ip, messagesPerDay, dkim, spf, broken }) => {
      const chance =
        0.85 + 0.3 * chanceOf(domain.name, reporter.org ?? reporter.domain, ip, daysAgo);
      const count = Math.round(messagesPerDay * reporter.share * chance * (isQuiet ? 0.45 : 1));
      const isBroken = broken !== undefined && isBetween(daysAgo, broken);
      return { ip, count, dkim: isBroken ? ('fail' as const) : dkim, spf };
    })
    .filter(({ count }) => count > 0);
}

function isBetween(daysAgo: number, [first, last]: readonly [number, number]): boolean {
  return daysAgo <= first && daysAgo >= last;
}

/** A number from 0 to 1 that depends only on the inputs. */
function chanceOf(...inputs: readonly (string | number)[]): number {
  return hash('sha256', inputs.join(' '), 'buffer').readUInt32BE(0) / 2 ** 32;
}
