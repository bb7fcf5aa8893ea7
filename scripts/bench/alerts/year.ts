import { hash } from 'node:crypto';
import { addDays, type Day } from '../../../src/domain/instant.ts';

/*
 * A made-up year of several domains with planted incidents. It is the same in every run: pseudo-random values
 * are hashes of their inputs.
 */

export const FIRST_DAY: Day = '2025-01-01';
export const YEAR_DAYS = 365;

/** An incident that an alert of this type must report soon after it starts. */
export interface Incident {
  readonly type: string;
  /** Days from the first day to the start of the incident. */
  readonly from: number;
  /** How many days later the alert may fire at the latest. */
  readonly within: number;
  /** How many days the incident lasts. */
  readonly days: number;
}

export interface YearOfDomain {
  readonly name: string;
  readonly kind: string;
  readonly messagesPerDay: number;
  /** The share of mail that passes, on a usual day, by days since the first day. */
  readonly passes: (day: number) => number;
  readonly isWeekly?: boolean;
  readonly incidents: readonly Incident[];
}

const ofType =
  (type: string, within: number) =>
  (from: number, days: number): Incident => ({ type: `alert.${type}`, from, within, days });

const regression = ofType('alignment_regression', 2);
const silence = ofType('reports_missing', 5);
const burst = ofType('new_failing_source', 2);
const weakening = ofType('policy_weakened', 1);
const change = ofType('dns_record_changed', 1);

const steady = (rate: number) => () => rate;

export const DOMAINS: readonly YearOfDomain[] = [
  {
    name: 'incidents.example',
    kind: 'busy, with every kind of incident',
    messagesPerDay: 4_000,
    passes: steady(0.985),
    incidents: [
      regression(60, 4),
      burst(90, 2),
      silence(130, 8),
      regression(180, 30),
      burst(230, 1),
      weakening(250, 3),
      change(280, 2),
      silence(310, 5),
      regression(340, 3),
    ],
  },
  {
    name: 'small.example',
    kind: 'small, with incidents just above the thresholds',
    messagesPerDay: 420,
    passes: steady(0.96),
    // The burst is on working days. On a Sunday it would be such a large share of little mail that the day
    // would also be a regression.
    incidents: [regression(100, 5), burst(202, 3), silence(300, 6)],
  },
  {
    name: 'weekends.example',
    kind: 'quiet, nearly no mail on weekends',
    messagesPerDay: 900,
    passes: steady(0.97),
    isWeekly: true,
    incidents: [],
  },
  {
    name: 'drift.example',
    kind: 'quiet, slowly from 99 to 74 %',
    messagesPerDay: 2_000,
    passes: (day) => 0.99 - (0.25 * day) / YEAR_DAYS,
    incidents: [],
  },
  {
    name: 'tiny.example',
    kind: 'quiet, 12 messages a day of any rate',
    messagesPerDay: 12,
    passes: (day) => chanceOf('tiny', day),
    incidents: [],
  },
  {
    name: 'forwarded.example',
    kind: 'quiet, many forwarders that come and go',
    messagesPerDay: 3_000,
    passes: steady(0.9),
    incidents: [],
  },
  {
    name: 'monthly.example',
    kind: 'quiet, reports once a week at the most',
    messagesPerDay: 700,
    passes: steady(0.95),
    incidents: [],
  },
];

/** A number from 0 to 1 that depends only on the words. */
export function chanceOf(...words: readonly (string | number)[]): number {
  return hash('sha256', words.join(' '), 'buffer').readUInt32BE(0) / 2 ** 32;
}

export function isDuring({ from, days }: Incident, day: number): boolean {
  return day >= from && day < from + days;
}

export const dayOf = (day: number): Day => addDays(FIRST_DAY, day);
