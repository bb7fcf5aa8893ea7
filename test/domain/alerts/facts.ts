import { decide } from '../../../src/domain/alerts/decide.ts';
import type { KnownAlert } from '../../../src/domain/alerts/facts.ts';
import { type AlertFacts, type AlertType, RULES } from '../../../src/domain/alerts/registry.ts';
import type { Resolution } from '../../../src/domain/alerts/resolution.ts';
import type { Occurrence } from '../../../src/domain/alerts/rule.ts';
import type { SenderDays } from '../../../src/domain/alerts/sender-failures.ts';
import { DEFAULT_THRESHOLDS } from '../../../src/domain/alerts/thresholds.ts';
import { UNKNOWN_RECORD } from '../../../src/domain/dns/dns-watch.ts';
import { addDays, type Day, type Instant } from '../../../src/domain/instant.ts';
import type { DayCounts } from '../../../src/domain/pass-rate.ts';
import { parsePattern, toPattern } from '../../../src/domain/reports/source-pattern.ts';
import { aRecord } from '../../support/builders.ts';
import { aCause, aTlsDay } from '../tls/tls-days.ts';

/** The newest day of every test unless given; its reports arrive on the next day. */
export const D: Day = '2026-03-14';
export const NOW: Instant = '2026-03-15T06:00:00Z';

/** All facts of a domain, empty except for those that a test gives. */
export function facts(known: Partial<AlertFacts> = {}): AlertFacts {
  return {
    now: NOW,
    domain: 'example.com',
    watchedSince: null,
    lastReportAt: '2026-03-15T04:00:00Z',
    days: [],
    receipts: [],
    failingSources: [],
    senders: [],
    tls: [],
    dns: {},
    alerts: [],
    ...known,
  };
}

type Counts = readonly [messages: number, aligned: number];

/** Consecutive days up to `last`, oldest first. */
export function days(counts: readonly Counts[], last: Day = D): DayCounts[] {
  return counts.map(([messages, aligned], i) => ({
    day: addDays(last, i + 1 - counts.length),
    messages,
    aligned,
  }));
}

/** The same day several times. */
export const times = (count: number, day: Counts): Counts[] => Array(count).fill(day);

export const DROP: readonly Counts[] = [...times(8, [1000, 990]), [1000, 400]];

const BEFORE = '2026-03-15T04:00:00Z';
const change = { former: 'v=spf1 -all', current: 'v=spf1 ?all', at: BEFORE };
const weakening = { former: 'v=DMARC1; p=reject', current: 'v=DMARC1; p=none', at: BEFORE };

/** Thirty of forty sessions, at one host. */
export const FAILED = { causes: [aCause({ sessions: 30 })] } as const;

/** Facts that fire an alert of each type. */
export const FIRING: Readonly<Record<AlertType, Partial<AlertFacts>>> = {
  'alert.alignment_regression': {
    days: days(DROP),
    cause: {
      ...{ sender: 'Amazon SES', service: 'Amazon SES', source_ip: null },
      ...{ message_count: 600, failed_count: 599, selector: 's2', signing_domain: 'example.com' },
    },
  },
  'alert.reports_missing': {
    lastReportAt: '2026-03-12T05:00:00Z',
    receipts: ['07', '08', '09', '10', '12'].map((day) => ({ day: `2026-03-${day}`, reports: 3 })),
  },
  'alert.new_failing_source': {
    days: days(times(40, [1000, 990])),
    failingSources: ['192.0.2.1', '2001:db8::1'].map((address) => ({
      ...{ day: D, address, service: null, messages: 25, aligned: 1 },
      ...{ absentDays: null, laterFailingDays: [] },
    })),
  },
  'alert.dns_record_changed': { dns: { spf: { ...UNKNOWN_RECORD, change } } },
  'alert.policy_weakened': { dns: { dmarc: { ...UNKNOWN_RECORD, weakening } } },
  'alert.sender_failing': { days: days(times(9, [1000, 990])), senders: [payroll([0, 0, 0])] },
  'alert.tls_failures': { tls: [aTlsDay({ day: D, mode: 'enforce', ...FAILED })] },
};

/** A server that sends 60 messages a day, of which all passed on seven days; then so many of each day. */
export function payroll(passed: readonly number[], last: Day = D): SenderDays {
  const seen = parsePattern(
    toPattern(
      aRecord({ sourceIp: '192.0.2.77', spfResult: 'permerror', spf: 'fail', dkim: 'fail' }),
    ),
  );
  const all = [...Array(7).fill(60), ...passed];
  return {
    ...{ key: '192.0.2.77', title: 'payroll.example.com (192.0.2.77)', service: undefined },
    addresses: ['192.0.2.77'],
    days: all.map((aligned, i) => ({
      ...{ day: addDays(last, i + 1 - all.length), messages: 60, failed: 60 - aligned },
      ...{
        unsigned: aligned,
        sightings: [{ seen, messages: 60 - aligned, look: 'silent' as const }],
      },
    })),
  };
}

export function occurrences(type: string, known: AlertFacts): readonly Occurrence[] {
  const rule = RULES.find((r) => r.type === type);
  return rule?.findOccurrences(known, DEFAULT_THRESHOLDS) ?? [];
}

/** The known alerts after the decisions were carried out. */
export function carryOut(known: AlertFacts): KnownAlert[] {
  const alerts = new Map(known.alerts.map((alert) => [alert.id, alert]));
  for (const decision of decide([known], DEFAULT_THRESHOLDS)) {
    if (decision.kind === 'fire') {
      const { type, occurrence } = decision;
      const { subject, context, ending } = occurrence;
      const id = `${alerts.size + 1}`;
      const fired = {
        id,
        type,
        subject,
        context,
        isOpen: true,
        firedAt: known.now,
        resolvedAt: null,
      };
      alerts.set(id, ending === null ? fired : resolve(fired, ending, known.now));
    } else if (decision.kind === 'resolve') {
      alerts.set(decision.alert.id, resolve(decision.alert, decision.resolution, known.now));
    } else {
      alerts.set(decision.alert.id, { ...decision.alert, context: decision.context });
    }
  }
  return [...alerts.values()];
}

function resolve(alert: KnownAlert, resolution: Resolution, now: Instant): KnownAlert {
  return { ...alert, isOpen: false, resolvedAt: now, context: { ...alert.context, resolution } };
}
