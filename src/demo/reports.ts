import { gzipSync } from 'node:zlib';
import { DAY_MS } from '../domain/instant.ts';
import { toTlsFiles } from './tls-reports.ts';
import {
  DEMO_DAYS,
  type DemoDomain,
  type DemoRecord,
  type DemoReporter,
  findPolicy,
  listRecords,
  REPORTERS,
} from './traffic.ts';

/** The reports of one day, as received during the next day. */
export interface DemoDay {
  readonly receivedAt: Date;
  readonly files: readonly { readonly name: string; readonly bytes: Buffer }[];
}

/** The begin of the oldest day: what the demo has besides reports is from then, as its account's audit says. */
export const toFirstDay = (today: Date): Date => toMidnight(today, DEMO_DAYS);

const toMidnight = (today: Date, daysAgo: number): Date =>
  new Date((Math.floor(today.getTime() / DAY_MS) - daysAgo) * DAY_MS);

/** Ninety days of reports for domains of the demo, oldest first, up to yesterday's. */
export function* demoDays(today: Date, domains: readonly DemoDomain[]): Generator<DemoDay> {
  for (let daysAgo = DEMO_DAYS; daysAgo >= 1; daysAgo--) {
    const day = toMidnight(today, daysAgo);
    const receivedAt = new Date(Math.min(day.getTime() + DAY_MS + 4 * 3_600_000, today.getTime()));
    const files = domains.flatMap((domain) => [
      ...REPORTERS.flatMap((reporter) => toFile(domain, reporter, { day, daysAgo })),
      ...toTlsFiles(domain.name, { day, daysAgo }),
    ]);
    yield { receivedAt, files };
  }
}

/** The XML of RFC 7489, appendix C, as most reporters write it; none where the reporter saw no mail. */
function toFile(domain: DemoDomain, reporter: DemoReporter, when: { day: Date; daysAgo: number }) {
  const begin = when.day.getTime() / 1000;
  const end = begin + 86_399;
  const { daysAgo } = when;
  const policy = findPolicy(domain, daysAgo);
  const records = listRecords(domain, reporter, daysAgo);
  if (records.length === 0) return [];
  const xml = `<?xml version="1.0" encoding="UTF-8"?>
<feedback>
  <report_metadata>
    ${reporter.org === undefined ? '' : `<org_name>${reporter.org}</org_name>`}
    <email>dmarc-reports@${reporter.domain}</email>
    <report_id>${begin}.${domain.name}@${reporter.domain}</report_id>
    <date_range><begin>${begin}</begin><end>${end}</end></date_range>
  </report_metadata>
  <policy_published>
    <domain>${domain.name}</domain><adkim>r</adkim><aspf>r</aspf>
    <p>${policy}</p><sp>${policy}</sp><pct>100</pct>
  </policy_published>
${records.map((record) => renderRecord(record, domain)).join('\n')}
</feedback>
`;
  const name = `${reporter.domain}!${domain.name}!${begin}!${end}.xml.gz`;
  return [{ name, bytes: gzipSync(xml) }];
}

function renderRecord(record: DemoRecord, { name }: DemoDomain): string {
  const { ip, count, dkim, spf, policy, isOfList } = record;
  const disposition = dkim === 'pass' || spf === 'pass' || isOfList ? 'none' : policy;
  const reason = isOfList ? '<reason><type>mailing_list</type></reason>' : '';
  return `  <record>
    <row>
      <source_ip>${ip}</source_ip><count>${count}</count>
      <policy_evaluated><disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf>${reason}</policy_evaluated>
    </row>
    <identifiers><header_from>${name}</header_from></identifiers>
    <auth_results>
${renderSignature(record, name)}      ${renderSpf(record, name)}
    </auth_results>
  </record>`;
}

/** A signature of another domain verifies, and is not aligned. */
function renderSignature({ dkim, signature, isBroken }: DemoRecord, name: string): string {
  if (signature === null) return '';
  const [domain, selector] = signature ?? [name, 's1'];
  const result = dkim === 'pass' || (domain !== name && !isBroken) ? 'pass' : 'fail';
  return `      <dkim><domain>${domain}</domain><selector>${selector}</selector><result>${result}</result></dkim>\n`;
}

/** The SPF records of the demo's domains end with `-all`. */
function renderSpf({ spf, bounce = 'bounce.example' }: DemoRecord, name: string): string {
  const isOwn = spf === 'pass' || bounce === 'own';
  const result = spf === 'pass' || !isOwn ? 'pass' : 'fail';
  return `<spf><domain>${isOwn ? name : bounce}</domain><result>${result}</result></spf>`;
}
