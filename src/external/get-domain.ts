import { toRecordName } from '../domain/dns/dns-record.ts';
import { unpackContent } from '../domain/reports/report-content.ts';
import { toDnsFacts } from '../store/alerts/dns-records.ts';
import {
  type DomainOfAccountRow,
  domainOfAccount,
  newestReport,
} from '../store/domains/domain-of-account.ts';
import type { RowOfQuery } from '../store/engine/prepared.ts';
import { askAll } from '../store/engine/reader.ts';
import { hashVersion } from './computed-version.ts';
import type { Handler } from './operation.ts';

export const getDomain = (({ accountId, path: { domain_id: domainId } }) => ({
  missing: 'No such domain.',
  findVersion: async (reader) => {
    const [domain] = await reader.readAll(domainOfAccount({ accountId, domainId }));
    return domain && toVersion(domain);
  },
  read: async (reader) => {
    const [[domain], [report]] = await reader.readPlan(() =>
      askAll(domainOfAccount({ accountId, domainId }), newestReport({ domainId })),
    );
    return domain && { version: toVersion(domain), data: toData(domain, report) };
  },
})) satisfies Handler<'getDomain'>;

type NewestReport = RowOfQuery<typeof newestReport>;

/** The reports' version is another one with each report. */
function toVersion({ reports_version, status, dmarc_state }: DomainOfAccountRow): string {
  return hashVersion([reports_version, status, toDmarcValue(dmarc_state)]);
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
