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
import { findWorkOf, settleWork } from '../store/domains/work.ts';
import { ask } from '../store/engine/reader.ts';
import { hashVersion } from './computed-version.ts';
import type { Handler } from './operation.ts';
import { type Settled, toWorkFields } from './work-fields.ts';

export const getDomain = (({ accountId, path: { domain_id: domainId } }, given) => {
  const { days, networks } = given;
  const now = given.now();
  const scope = { accountId, domainId };
  const today = toDay(toInstant(now));
  const query = domainOfAccount({ ...scope, ...toLately(today) });
  /** The reports' version is another one with each report. */
  const toVersion = async ({ version, reporters, status, alerts_version }: DomainOfAccountRow) => {
    const known = [await given.findKnown(), await given.findAddress(accountId)];
    return hashVersion([version, reporters, status, alerts_version, today, known]);
  };
  return {
    missing: 'No such domain.',
    findVersion: async (reader) => {
      const [domain] = await reader.readAll(query);
      return domain && (await toVersion(domain));
    },
    read: async (reader) => {
      const [domain, report] = await reader.readPlan(function* () {
        const [domain] = yield* ask(query);
        return [domain, domain && (yield* planNewestReport({ domainId, view: domain.reporters }))];
      });
      const work = await findWorkOf(reader, { ...scope, now });
      if (domain === undefined || work === undefined) return undefined;
      const { range, item } = work;
      const page = { accountId, range, items: [item], isWhole: true };
      const [settled] = await settleWork({ reader, days, networks }, page);
      const fields = toWorkFields(settled as Settled, range, await given.findAddress(accountId));
      const mail = toMail(settled as Settled);
      const data = { ...toData(domain, report), ...fields, mail };
      return { version: await toVersion(domain), body: { data } };
    },
  };
}) satisfies Handler<'getDomain'>;

function toMail({ settled: { mail } }: Settled) {
  return Object.entries(mail?.all.standings ?? {}).map(([standing, one]) => ({
    standing,
    total_messages: one.messages,
    aligned_messages: one.aligned,
    sources: one.sources,
  }));
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
