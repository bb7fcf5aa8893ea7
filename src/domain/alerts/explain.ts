import type { Facts } from './facts.ts';
import { isResolution, toWords } from './resolution.ts';
import { type AlertRule, alertsOf } from './rule.ts';
import type { Thresholds } from './thresholds.ts';

/** How far a type is from firing or resolving, and why its last alert resolved, in sentences with figures. */
export function explain(rule: AlertRule, facts: Facts, thresholds: Thresholds): string[] {
  const alerts = alertsOf(facts, rule.type);
  const said = rule.explain(facts, thresholds);
  if (alerts.some(({ isOpen }) => isOpen)) return [...said];
  const last = alerts.toSorted((a, b) => ((a.resolvedAt ?? '') < (b.resolvedAt ?? '') ? 1 : -1))[0];
  const resolution = last?.context['resolution'];
  if (!isResolution(resolution)) return [...said];
  const why = `${resolution} (${toWords(resolution)})`;
  return [...said, `The last one resolved at ${last?.resolvedAt}: ${why}.`];
}
