import { decide } from '../../../src/domain/alerts/decide.ts';
import type { Facts, KnownAlert } from '../../../src/domain/alerts/facts.ts';
import { RULES } from '../../../src/domain/alerts/registry.ts';
import type { Resolution } from '../../../src/domain/alerts/resolution.ts';
import type { Occurrence } from '../../../src/domain/alerts/rule.ts';
import { DEFAULT_THRESHOLDS } from '../../../src/domain/alerts/thresholds.ts';
import { addDays, type Day, type Instant } from '../../../src/domain/instant.ts';
import type { DayCounts } from '../../../src/domain/pass-rate.ts';

/** The newest day of every test unless given; its reports arrive on the next day. */
export const D: Day = '2026-03-14';
export const NOW: Instant = '2026-03-15T06:00:00Z';

/** All facts of a domain, empty except for those that a test gives. */
export function facts(known: Partial<Facts> = {}): Facts {
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

export function occurrences(type: string, known: Facts): readonly Occurrence[] {
  const rule = RULES.find((r) => r.type === type);
  return rule?.findOccurrences(known, DEFAULT_THRESHOLDS) ?? [];
}

/** The known alerts after the decisions were carried out. */
export function carryOut(known: Facts): KnownAlert[] {
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
