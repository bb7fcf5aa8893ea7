import { alignmentRegression } from './alignment-regression.ts';
import { dnsRecordChanged } from './dns-record-changed.ts';
import { newFailingSource } from './new-failing-source.ts';
import { policyWeakened } from './policy-weakened.ts';
import { reportsMissing } from './reports-missing.ts';
import type { AlertRule } from './rule.ts';
import { senderFailing } from './sender-failing.ts';
import type { Thresholds } from './thresholds.ts';
import { tlsFailures } from './tls-failures.ts';

/** Every alert type: a file here and a line below. */
export const RULES = [
  alignmentRegression,
  reportsMissing,
  newFailingSource,
  dnsRecordChanged,
  policyWeakened,
  senderFailing,
  tlsFailures,
] as const satisfies readonly AlertRule<string, never>[];

type Rule = (typeof RULES)[number];

export type AlertType = Rule['type'];

/** All that is known of one domain at one moment: what any of the rules reads. */
export type AlertFacts = Rule['findOccurrences'] extends (
  facts: infer Known,
  thresholds: Thresholds,
) => unknown
  ? Known
  : never;

export type AnyAlertRule = AlertRule<AlertType, AlertFacts>;

/** The database may have alerts of types that this version does not know. */
export function findRule(type: string): AnyAlertRule | undefined {
  return RULES.find((rule) => rule.type === type);
}
