import { alignmentRegression } from './alignment-regression.ts';
import { dnsRecordChanged } from './dns-record-changed.ts';
import { newFailingSource } from './new-failing-source.ts';
import { policyWeakened } from './policy-weakened.ts';
import { reportsMissing } from './reports-missing.ts';
import type { AlertRule } from './rule.ts';

/** Every alert type: a file here and a line below. It compiles with texts (settings) and a schema (external). */
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
