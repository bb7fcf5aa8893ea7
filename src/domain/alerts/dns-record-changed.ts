import { RECORD_TYPES, type RecordType, toRecordName } from '../dns/dns-record.ts';
import { type DnsChange, type DnsRecordState, isRecent } from '../dns/dns-watch.ts';
import { toDay } from '../instant.ts';
import type { AlertContext } from './context.ts';
import type { CommonFacts } from './facts.ts';
import { type AlertRule, findOpen, isFresh, type Occurrence } from './rule.ts';
import type { Thresholds } from './thresholds.ts';

const TYPE = 'alert.dns_record_changed';

export interface DnsFacts extends CommonFacts {
  readonly dns: Readonly<Partial<Record<RecordType, DnsRecordState>>>;
}

/** The DMARC or SPF record differs from the last confirmed one. */
export const dnsRecordChanged: AlertRule<typeof TYPE, DnsFacts> = {
  type: TYPE,
  findOccurrences: (facts, thresholds) =>
    RECORD_TYPES.flatMap((type) => {
      const change = facts.dns[type]?.change ?? null;
      if (change === null || !isRecent(change, facts.now, thresholds)) return [];
      const isKnown = findOpen(facts, TYPE, type) !== undefined;
      return mayBeOpen(change, isKnown, facts, thresholds)
        ? [toOccurrence(type, change, facts)]
        : [];
    }),
  findEnding: ({ subject }, { dns, now }, thresholds) => {
    const change = dns[subject as RecordType]?.change ?? null;
    if (change === null) return 'recovered';
    return isRecent(change, now, thresholds) ? undefined : 'new_normal';
  },
  explain: (facts, thresholds) =>
    RECORD_TYPES.map((type) => explainRecord(type, facts, thresholds)),
  title: 'DNS record changed',
  describe: describeRecord,
  advice: 'A DNS record changed: make sure that this was meant.',
  urgency: 6,
  link: 'alert',
  isLasting: false,
};

/** A change fires while it is fresh. Once it has fired, it stays open for as long as the thresholds allow. */
export function mayBeOpen(
  { at }: DnsChange,
  isKnown: boolean,
  facts: DnsFacts,
  thresholds: Thresholds,
): boolean {
  if (facts.watchedSince !== null && at < facts.watchedSince) return false;
  return isKnown || isFresh(toDay(at), facts, thresholds);
}

function toOccurrence(
  type: RecordType,
  { former, current }: DnsChange,
  { domain }: DnsFacts,
): Occurrence {
  const context = {
    record_type: type,
    record_name: toRecordName(type, domain),
    change: former === null ? 'added' : current === null ? 'removed' : 'modified',
    previous_value: former,
    current_value: current,
  };
  return { subject: type, ending: null, context };
}

export function explainRecord(type: RecordType, facts: DnsFacts, t: Thresholds): string {
  const state = facts.dns[type];
  const name = `${type.toUpperCase()} at ${toRecordName(type, facts.domain)}`;
  if (state === undefined || (state.confirmed === null && state.candidate === null))
    return `${name}: not checked yet (PLUMBLINE_DNS_CHECKS=on turns checks on).`;
  if (state.confirmed === null) return `${name}: seen once; a second check confirms it.`;
  const parts = [`${name}: ${state.confirmed.value ?? 'no record'}.`];
  if (state.candidate !== null)
    parts.push(
      `A different value since ${state.candidate.since}; it counts when a check ${t.dnsConfirmMinutes} minutes later still differs: ${state.candidate.value ?? 'no record'}.`,
    );
  if (state.change !== null && isRecent(state.change, facts.now, t))
    parts.push(
      `Changed at ${state.change.at} from ${state.change.former ?? 'no record'}; the alert stays open until the former value returns, or for ${t.dnsChangeDays} days.`,
    );
  return parts.join(' ');
}

function describeRecord(context: AlertContext): string {
  const record = `The ${context['record_type']} record at ${context['record_name']}`;
  const [before, after] = [context['previous_value'], context['current_value']];
  if (context['change'] === 'added') return `${record} was added: ${after}`;
  if (context['change'] === 'removed') return `${record} was removed. It was: ${before}`;
  return `${record} was changed from ${before} to ${after}`;
}
