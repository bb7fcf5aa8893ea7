import type { components } from '../../generated/v1.d.ts';
import { toDay, toInstant } from '../domain/instant.ts';
import type { PolicyType, ResultType } from '../domain/reports/tls-report.ts';
import { sumCauses, type TlsDay, type TlsReporter, totalOf } from '../domain/tls/tls-day.ts';
import { stateInAccount, toLately } from '../store/days/believed.ts';
import { hashVersion } from './computed-version.ts';
import { toRange } from './day-range.ts';
import type { Handler } from './operation.ts';

export const listDomainTlsDays = (({ accountId, path: { domain_id: domainId }, query }, given) => {
  const { from, until, limit, offset } = query;
  const today = toDay(toInstant(given.now()));
  const range = toRange({ from, until }, today);
  const scope = { accountId, domainId };
  const state = stateInAccount({ ...scope, ...toLately(today) });
  const toVersion = (version: string | null) => hashVersion([domainId, version, range]);
  return {
    missing: 'No such domain.',
    findVersion: async (reader) => {
      const [found] = await reader.readFirst(state);
      return found && toVersion(found.tls_version);
    },
    read: async (reader) => {
      const [found] = await reader.readAll(state);
      if (found === undefined) return undefined;
      // What is read after it may be newer than this version, which is another one then.
      const version = toVersion(found.tls_version);
      const { days } = await given.days.readTlsDays({ scope, range });
      const data = days.slice(offset, offset + limit).map(toItem);
      return { version, body: { data, total: days.length } };
    },
  };
}) satisfies Handler<'listDomainTlsDays'>;

const MAX_LISTED = 100;

function toItem(one: TlsDay): components['schemas']['TlsDay'] {
  const { day, policyType, mode, successes, failures, reporters, causes } = one;
  return {
    ...{ day, policy_type: policyType as PolicyType | null, mode },
    ...{ successful_sessions: successes, failed_sessions: failures },
    reporters: reporters.slice(0, MAX_LISTED).map(toReporterSessions),
    result_types: sumCauses(causes, 'resultType').slice(0, MAX_LISTED).map(toResultSessions),
  };
}

const toReporterSessions = (one: TlsReporter) => ({
  ...{ reporter: one.reporter, failed_sessions: one.failures, total_sessions: totalOf(one) },
});

const toResultSessions = ([type, sessions]: readonly [string, number]) => ({
  result_type: type as ResultType | 'unknown',
  failed_sessions: sessions,
});
