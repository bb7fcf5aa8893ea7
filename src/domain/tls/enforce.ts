import type { TlsMode } from '../reports/tls-report.ts';
import { listStsFindings, type TlsCheck } from './tls-check.ts';
import type { TlsDay } from './tls-day.ts';

/** What keeps a policy of MTA-STS from `enforce`. */
type EnforceObstacle = 'not_checked' | 'policy_file' | 'mx' | 'days' | 'reporters' | 'failures';

/** What of a valid file somebody may want to change, and no sender minds. */
const HINTS: ReadonlySet<string> = new Set(['not_text', 'short_max_age', 'mx_not_covered']);

const [DATA_DAYS, QUIET_DAYS, REPORTERS] = [14, 7, 2];

/** The mode that is in force: as the file has it, else as the newest day's reports say. */
function findMode(days: readonly TlsDay[], check?: TlsCheck): TlsMode | null {
  return (
    check?.sts?.policy?.mode ?? days.find(({ policyType }) => policyType === 'sts')?.mode ?? null
  );
}

/**
 * What a domain in `testing` lacks to go on to `enforce`: nothing when it is ready. undefined in another mode. The newest day
 * comes first.
 */
export function listObstacles(
  days: readonly TlsDay[],
  check?: TlsCheck,
): readonly EnforceObstacle[] | undefined {
  if (findMode(days, check) !== 'testing') return undefined;
  const own = days.filter(({ policyType }) => policyType === 'sts');
  const dataDays = [...new Set(own.map(({ day }) => day))];
  const quietSince = dataDays[QUIET_DAYS - 1] ?? '';
  const failed = own.some(({ day, failures }) => failures > 0 && day >= quietSince);
  const reporters = new Set(own.flatMap((one) => one.reporters.map(({ reporter }) => reporter)));
  const findings = check && listStsFindings(check);
  const isUnread = findings?.length === 0 && !check?.sts?.policy;
  const found: Record<EnforceObstacle, boolean> = {
    not_checked: findings === undefined || isUnread,
    policy_file: findings?.every((finding) => HINTS.has(finding)) === false,
    mx: findings?.includes('mx_not_covered') === true,
    days: dataDays.length < DATA_DAYS,
    reporters: reporters.size < REPORTERS,
    failures: failed,
  };
  return (Object.keys(found) as EnforceObstacle[]).filter((one) => found[one]);
}

export const OBSTACLE_TEXTS: Readonly<Record<EnforceObstacle, string>> = {
  not_checked: 'The policy file has not been checked.',
  policy_file: 'The policy file has a fault.',
  mx: 'An MX is in no mx line of the policy.',
  days: `Fewer than ${DATA_DAYS} days have reports.`,
  reporters: 'Only one reporter tells of it.',
  failures: `Sessions failed: on the latest ${QUIET_DAYS} days that have reports, none may fail.`,
};
