import type { AggregateReport } from '../../../src/domain/reports/aggregate-report.ts';
import { recordsOf, withRecords } from '../../bare-report.ts';
import { aSyntheticReport } from '../../synthetic-report.ts';
import { chanceOf, dayOf, isDuring, type YearOfDomain } from './year.ts';

const REPORTERS = ['alpha', 'bravo', 'charlie', 'delta'] as const;
const SHARES = [0.5, 0.27, 0.15, 0.08] as const;

/** A report, and how many hours after its day it arrives. */
export interface LateReport {
  readonly report: AggregateReport;
  readonly delayHours: number;
}

/** The reports of one domain and day: four reporters, each with its delay; none while reports are missing. */
export function reportsOf(domain: YearOfDomain, day: number): LateReport[] {
  if (domain.name === 'monthly.example' && day % 7 !== 3) return [];
  if (during(domain, 'alert.reports_missing', day)) return [];
  return REPORTERS.map((reporter, i) => {
    const sources = sourcesOf(domain, day, { reporter, share: SHARES[i] ?? 0 });
    const delayHours = 3 + Math.floor(30 * chanceOf(domain.name, reporter, day, 'delay') ** 3);
    return { report: toReport(domain, day, { number: i, sources }), delayHours };
  });
}

/** What an address sent. */
interface Sent {
  readonly address: string;
  readonly messages: number;
  readonly aligned: number;
}

interface Reporting {
  readonly reporter: string;
  readonly share: number;
}

function sourcesOf(domain: YearOfDomain, day: number, { reporter, share }: Reporting): Sent[] {
  const weekend = new Date(dayOf(day)).getUTCDay() % 6 === 0;
  const usual = domain.messagesPerDay * (domain.isWeekly && weekend ? 0.04 : weekend ? 0.5 : 1);
  const messages = Math.round(usual * share * (0.8 + 0.4 * chanceOf(domain.name, reporter, day)));
  const dip = during(domain, 'alert.alignment_regression', day) ? 0.15 : 0;
  const noise = 0.02 * (chanceOf(domain.name, reporter, day, 'rate') - 0.5);
  const passes = Math.min(1, Math.max(0, domain.passes(day) - dip + noise));
  const aligned = Math.round(messages * passes);
  return [
    // Failing mail comes from the company's own old server, which is a known source.
    { address: '192.0.2.10', messages: aligned, aligned },
    { address: '192.0.2.20', messages: messages - aligned, aligned: 0 },
    ...passers(domain, day, share),
    ...forgers(domain, day, share),
  ].filter((source) => source.messages > 0);
}

/** Unknown forwarders: a few failing messages each. */
function passers({ name }: YearOfDomain, day: number, share: number): Sent[] {
  const many = name === 'forwarded.example' ? 12 : 2;
  return Array.from({ length: many }, (_, i) => ({
    address: `198.51.100.${Math.floor(250 * chanceOf(name, day, i))}`,
    messages: Math.round(10 * share * chanceOf(name, day, i, 'count')),
    aligned: 0,
  }));
}

/** A burst: new addresses, above the threshold, with too little mail to change the pass rate. */
function forgers(domain: YearOfDomain, day: number, share: number): Sent[] {
  const incident = domain.incidents.find(
    (planted) => planted.type === 'alert.new_failing_source' && isDuring(planted, day),
  );
  if (incident === undefined) return [];
  const addresses = domain.messagesPerDay > 1000 ? 4 : 1;
  return Array.from({ length: addresses }, (_, i) => ({
    address: `203.0.113.${(incident.from % 200) + i}`,
    messages: Math.ceil(22 * share),
    aligned: 0,
  }));
}

function toReport(
  { name }: YearOfDomain,
  day: number,
  { number, sources }: { number: number; sources: readonly Sent[] },
): AggregateReport {
  const report = aSyntheticReport({
    domain: name,
    number: day * REPORTERS.length + number,
    day: 0,
  });
  const begin = Date.parse(dayOf(day)) / 1000;
  const parts = { ...report, metadata: { ...report.metadata, begin, end: begin + 86_399 } };
  return withRecords(
    parts,
    sources.flatMap(({ address, messages, aligned }) => recordsOf(address, messages, aligned)),
  );
}

function during({ incidents }: YearOfDomain, type: string, day: number): boolean {
  return incidents.some((incident) => incident.type === type && isDuring(incident, day));
}
