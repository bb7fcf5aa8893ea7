import { alignmentRegression } from './alignment-regression.ts';
import { dnsRecordChanged } from './dns-record-changed.ts';
import { newFailingSource } from './new-failing-source.ts';
import { policyWeakened } from './policy-weakened.ts';
import { reportsMissing } from './reports-missing.ts';
import type { AlertRule } from './rule.ts';

/**
 * Every alert type. A new type is a file in this folder and a line here. It compiles when it has its texts
 * (settings) and the schema of its context (external) too.
 */
export const RULES = [
  alignmentRegression,
  reportsMissing,
  newFailingSource,
  dnsRecordChanged,
  policyWeakened,
] as const satisfies readonly AlertRule[];

export type AlertType = (typeof RULES)[number]['type'];

/** The database may have alerts of types that this version does not know. */
export function isAlertType(type: string): type is AlertType {
  return RULES.some((rule) => rule.type === type);
}
