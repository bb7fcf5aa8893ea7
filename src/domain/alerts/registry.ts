import { alignmentRegression } from './alignment-regression.ts';
import { dnsRecordChanged } from './dns-record-changed.ts';
import { newFailingSource } from './new-failing-source.ts';
import { policyWeakened } from './policy-weakened.ts';
import { reportsMissing } from './reports-missing.ts';
import type { AlertRule } from './rule.ts';

/** Every alert type. A new type is a file in this folder and a line here. */
export const RULES: readonly AlertRule[] = [
  alignmentRegression,
  reportsMissing,
  newFailingSource,
  dnsRecordChanged,
  policyWeakened,
];
