import type { components } from '../../generated/v1.d.ts';
import { toRecordName } from '../domain/dns/dns-record.ts';
import type { ScopedMail } from '../domain/domain-facts.ts';
import { toDay, toInstant } from '../domain/instant.ts';
import type { MailOfStanding, Standing } from '../domain/own-mail.ts';
import { failedOf } from '../domain/pass-rate.ts';
import { unpackContent } from '../domain/reports/report-content.ts';
import { type SettledItem, settleDomain } from '../judging/work.ts';
import { dailyCheckOf, toChecked, toSenderRecords } from '../store/alerts/daily-checks.ts';
import { stateInAccount, toLately } from '../store/days/believed.ts';
import { type NewestReport, planNewestReport } from '../store/domains/domain-of-account.ts';
import { askAll } from '../store/engine/reader.ts';
import { hashVersion } from './computed-version.ts';
import { toDispositions } from './dispositions.ts';
import type { Handler } from './operation.ts';
import { toSenderRecordFields } from './sender-record-fields.ts';
import { readTlsFields } from './tls-fields.ts';
import { toWorkFields } from './work-fields.ts';

export const getDomain = (({ accountId, path: { domain_id: domainId } }, given) => {
  const { days, networks } = given;
  const now = given.now();
  const today = toDay(toInstant(now));
  const scope = { accountId, domainId };
  const query = stateInAccount({ ...scope, ...toLately(today) });
  const checks = [
    dailyCheckOf({ domainId, type: 'tls' }),
    dailyCheckOf({ domainId, type: 'senders' }),
  ] as const;
  /** The reports' version is another one with each report. */
  const toVersion = async (state: object, ...checked: unknown[]) => {
    const known = [await given.findKnown(), await given.findAddress(accountId)];
    return hashVersion([state, ...checked, today, known]);
  };
  return {
    missing: 'No such domain.',
    findVersion: async (reader) => {
      const [[state], [tls], [senders]] = await reader.readPlan(() => askAll(query, ...checks));
      return state && (await toVersion(state, toChecked(tls), toSenderRecords(senders)));
    },
    read: async (reader) => {
      const [state, tls, senders, report] = await reader.readPlan(function* () {
        const [[state], [tls], [senders]] = yield* askAll(query, ...checks);
        return [state, tls, senders, state && (yield* planNewestReport(domainId))] as const;
      }, scope);
      const item = await settleDomain({ reader, days, networks }, { ...scope, now });
      if (state === undefined || item === undefined) return undefined;
      const fields = toWorkFields(item, item.range, await given.findAddress(accountId));
      const { tls_version: version } = state;
      const check = toChecked(tls);
      const of = { scope, name: item.name, today, version, check };
      const data = {
        ...toData(item),
        published_policy: toPolicy(report),
        ...fields,
        ...toMail(item),
        tls: await readTlsFields(reader, of, given),
        sender_records: toSenderRecordFields(item.name, toSenderRecords(senders)),
      };
      return { version: await toVersion(state, check, toSenderRecords(senders)), body: { data } };
    },
  };
}) satisfies Handler<'getDomain'>;

type Settled = NonNullable<Awaited<ReturnType<typeof settleDomain>>>;

const MAX_ROWS = 100;

/** Whose the messages are, and why they failed. */
function toMail({ mail, results, settled: { counts } }: Settled) {
  const { applied, signatures, reporters } = results;
  return {
    mail: toStandings(mail.all),
    mail_of_subdomains: toStandings(mail.below),
    failed_dispositions: toDispositions(applied, failedOf(counts)),
    signatures: signatures.slice(0, MAX_ROWS).map(({ domain, selector, messages, aligned }) => {
      return { domain, selector, total_messages: messages, verified_messages: aligned };
    }),
    reported_by: reporters.slice(0, MAX_ROWS).map(({ name: reporter, messages, aligned }) => {
      return { reporter, total_messages: messages, aligned_messages: aligned };
    }),
  };
}

const toStandings = ({ standings }: Pick<ScopedMail, 'standings'>) =>
  (Object.entries(standings) as [Standing, MailOfStanding][]).map(
    ([standing, { messages, aligned, sources }]) => {
      return { standing, total_messages: messages, aligned_messages: aligned, sources };
    },
  );

/** A record that only reports state was not seen in DNS. */
function toData({ id, name, lastReportAt, facts: { status, dns } }: SettledItem) {
  const value = dns?.value;
  const state: components['schemas']['DmarcRecord']['state'] =
    value === undefined ? 'unknown' : value === null ? 'absent' : 'found';
  return {
    ...{ id, domain: name, status, last_report_at: lastReportAt },
    dmarc_record: {
      name: toRecordName('dmarc', name),
      state,
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
