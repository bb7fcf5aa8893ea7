import { toRecordName } from '../domain/dns/dns-record.ts';
import { toDay, toInstant } from '../domain/instant.ts';
import type { MailOfStanding } from '../domain/own-mail.ts';
import { unpackContent } from '../domain/reports/report-content.ts';
import { stateOf, toLately } from '../store/days/believed.ts';
import { type NewestReport, planNewestReport } from '../store/domains/domain-of-account.ts';
import { type SettledItem, settleDomain } from '../store/domains/work.ts';
import { ask } from '../store/engine/reader.ts';
import { hashVersion } from './computed-version.ts';
import type { Handler } from './operation.ts';
import { toWorkFields } from './work-fields.ts';

export const getDomain = (({ accountId, path: { domain_id: domainId } }, given) => {
  const { days, networks } = given;
  const now = given.now();
  const today = toDay(toInstant(now));
  function* find() {
    const [state] = yield* ask(stateOf({ domainId, ...toLately(today) }));
    return state?.accountId === accountId ? state : undefined;
  }
  /** The reports' version is another one with each report. */
  const toVersion = async (state: object) => {
    const known = [await given.findKnown(), await given.findAddress(accountId)];
    return hashVersion([state, today, known]);
  };
  return {
    missing: 'No such domain.',
    findVersion: async (reader) => {
      const state = await reader.readPlan(find);
      return state && (await toVersion(state));
    },
    read: async (reader) => {
      const [state, report] = await reader.readPlan(function* () {
        const state = yield* find();
        return [state, state && (yield* planNewestReport({ domainId, view: state.reporters }))];
      });
      const item = await settleDomain({ reader, days, networks }, { accountId, domainId, now });
      if (state === undefined || item === undefined) return undefined;
      const fields = toWorkFields(item, item.range, await given.findAddress(accountId));
      const mail = Object.entries(item.judged.mail.all.standings).map(toMail);
      const data = { ...toData(item), published_policy: toPolicy(report), ...fields, mail };
      return { version: await toVersion(state), body: { data } };
    },
  };
}) satisfies Handler<'getDomain'>;

const toMail = ([standing, { messages, aligned, sources }]: [string, MailOfStanding]) => ({
  ...{ standing, total_messages: messages, aligned_messages: aligned, sources },
});

/** A record that only reports state was not seen in DNS. */
function toData({ id, name, lastReportAt, statedOn, facts: { status, record } }: SettledItem) {
  const value = statedOn === undefined ? record : undefined;
  return {
    ...{ id, domain: name, status, last_report_at: lastReportAt },
    dmarc_record: {
      name: toRecordName('dmarc', name),
      state: value === undefined ? 'unknown' : value === null ? 'absent' : 'found',
      value: value ?? null,
    },
  };
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
