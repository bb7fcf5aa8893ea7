import type { AggregateReport } from '../src/domain/reports/aggregate-report.ts';

/* The fields that every report needs: made-up reports start from this and set only the fields that matter. */

export const BARE_REPORT = {
  xmlNamespace: null,
  version: null,
  warnings: [],
} satisfies Partial<AggregateReport>;

export const BARE_METADATA = {
  extraContactInfo: null,
  errors: [],
  generator: null,
} satisfies Partial<AggregateReport['metadata']>;

export const BARE_POLICY = {
  p: 'none',
  sp: null,
  np: null,
  adkim: null,
  aspf: null,
  pct: null,
  fo: null,
  testing: null,
  discoveryMethod: null,
} satisfies Partial<AggregateReport['policyPublished']>;
