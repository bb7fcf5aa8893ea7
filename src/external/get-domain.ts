import { toRecordName } from '../domain/dns/dns-record.ts';
import { toDay, toInstant } from '../domain/instant.ts';
import { unpackContent } from '../domain/reports/report-content.ts';
import { toDnsFacts } from '../store/alerts/dns-records.ts';
import { toLately } from '../store/days/believed.ts';
import {
  type DomainOfAccountRow,
  domainOfAccount,
  type NewestReport,
  planNewestReport,
} from '../store/domains/domain-of-account.ts';
import { ask } from '../store/engine/reader.ts';
import { hashVersion } from './computed-version.ts';
import type { Handler } from './operation.ts';

export const getDomain = (({ accountId, path: { domain_id: domainId } }, { now }) => {
  const query = domainOfAccount({ accountId, domainId, ...toLately(toDay(toInstant(now()))) });
  return {
    missing: 'No such domain.',
    findVersion: async (reader) => {
      const [domain] = await reader.readAll(query);
      return domain && toVersion(domain);
    },
    read: (reader) =>
      reader.readPlan(function* () {
        const [domain] = yield* ask(query);
        if (domain === undefined) return undefined;
        const report = yield* planNewestReport({ domainId, view: domain.reporters });
        return { version: toVersion(domain), body: { data: toData(domain, report) } };
      }),
  };
}) satisfies Handler<'getDomain'>;

/** The reports' version is another one with each report. */
function toVersion(domain: DomainOfAccountRow): string {
  const { version, reporters, status, dmarc_state } = domain;
  return hashVersion([version, reporters, status, toDmarcValue(dmarc_state)]);
}

function toData(domain: DomainOfAccountRow, report: NewestReport | undefined) {
  const { id, name, status, last_report_at, dmarc_state } = domain;
  const value = toDmarcValue(dmarc_state);
  return {
    id,
    domain: name,
    status,
    last_report_at,
    published_policy: toPolicy(report),
    dmarc_record: {
      name: toRecordName('dmarc', name),
      state: value === undefined ? 'unknown' : value === null ? 'absent' : 'found',
      value: value ?? null,
    },
  };
}

/** undefined while no value is confirmed; null when there is no record. */
function toDmarcValue(state: string | null): string | null | undefined {
  if (state === null) return undefined;
  return toDnsFacts([{ record_type: 'dmarc', state }]).dmarc?.confirmed?.value;
}

function toPolicy(report: NewestReport | undefined) {
  const policy = report && unpackContent(report.content).policyPublished;
  return {
    report_id: report?.id ?? null,
    p: policy?.p ?? null,
    sp: policy?.sp ?? null,
    np: policy?.np ?? null,
    adkim: policy?.adkim ?? null,
    aspf: policy?.aspf ?? null,
    pct: policy?.pct ?? null,
    fo: policy?.fo ?? null,
    testing: policy?.testing ?? null,
    discovery_method: policy?.discoveryMethod ?? null,
  };
}
