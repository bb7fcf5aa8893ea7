import { decide } from '../../../src/domain/alerts/decide.ts';
import type { KnownAlert } from '../../../src/domain/alerts/facts.ts';
import { type AlertFacts, type AlertType, RULES } from '../../../src/domain/alerts/registry.ts';
import type { Resolution } from '../../../src/domain/alerts/resolution.ts';
import type { Occurrence } from '../../../src/domain/alerts/rule.ts';
import { DEFAULT_THRESHOLDS } from '../../../src/domain/alerts/thresholds.ts';
import { UNKNOWN_RECORD } from '../../../src/domain/dns/dns-watch.ts';
import { addDays, type Day, type Instant } from '../../../src/domain/instant.ts';
import type { DayCounts } from '../../../src/domain/pass-rate.ts';

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
};

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
