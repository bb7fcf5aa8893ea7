import type { components } from '../../generated/v1.d.ts';
import { addDays, type Day } from '../domain/instant.ts';
import { WINDOW_DAYS } from '../domain/readiness.ts';
import type { PolicyType } from '../domain/reports/tls-report.ts';
import { type CheckedTls, listStsFindings } from '../domain/tls/tls-check.ts';
import { findTlsStep, type TlsStep } from '../domain/tls/tls-step.ts';
import { sumTypes } from '../domain/tls/tls-summary.ts';
import { newestTls } from '../store/days/tls-days.ts';
import type { Reader } from '../store/engine/reader.ts';
import type { DomainOfAccount } from '../store/lists/heads.ts';
import type { Given } from './operation.ts';

interface TlsOf {
  readonly scope: DomainOfAccount;
  readonly name: string;
  readonly today: Day;
  /** null: the domain never had a TLS report, and nothing is read. */
  readonly version: string | null;
  readonly check: CheckedTls | undefined;
}

/** What TLS reports say of the thirty days up to today, and what to do. */
export async function readTlsFields(
  reader: Reader,
  { scope, name, today, version, check }: TlsOf,
  given: Given,
): Promise<components['schemas']['DomainTls']> {
  const range = { from: addDays(today, 1 - WINDOW_DAYS), to: today };
  const hasReports = version !== null;
  const [newest] = hasReports ? await reader.readAll(newestTls(scope)) : [];
  const { days } = hasReports ? await given.days.readTlsDays({ scope, range }) : { days: [] };
  return {
    last_report_at: newest?.received_at ?? null,
    figures: sumTypes(days).map(({ policyType, mode, successes, failures }) => ({
      ...{ policy_type: policyType as PolicyType | null, mode },
      ...{ successful_sessions: successes, failed_sessions: failures },
    })),
    record: check?.record ?? { value: null, findings: [] },
    policy: toPolicy(check),
    next_step: toStep(findTlsStep(name, days, check)),
  };
}

function toPolicy(check: CheckedTls | undefined): components['schemas']['StsPolicy'] {
  const { id = null, policy } = check?.sts ?? {};
  return {
    ...{ id, mode: policy?.mode ?? null, mx: policy?.mx ?? [], max_age: policy?.maxAge ?? null },
    findings: check === undefined ? [] : listStsFindings(check),
    checked_at: check?.checkedAt ?? null,
  };
}

const toStep = ({ code, text, worst }: TlsStep) => ({
  ...{ code, text, mx_host: worst?.mxHost ?? null },
  result_type: worst?.resultType ?? null,
});
