import { hash } from 'node:crypto';
import { type MadeReport, toDomainName } from './shapes.ts';

const FIRST_DAY = Date.UTC(2023, 0, 1) / 1000;
const DAY_SECONDS = 86_400;
/** Addresses from which a domain's mail comes on each day, as long as a report has no more records. */
const STEADY = 15;
/** One report in as many has an address that no other day has, whose mail fails. */
const WITH_STRANGER = 4;
/** Of 32 bytes each. */
const [MIN_BLOCKS, MAX_BLOCKS] = [15, 45];

/** When a report comes in: in the morning after its day. */
export function toArrival({ day }: MadeReport): Date {
  return new Date((FIRST_DAY + (day + 1) * DAY_SECONDS + 18_000) * 1000);
}

/**
 * A report whose ten records have addresses, signatures and domains of their own, the same from day to day. Its gzip has
 * 1,570 to 2,540 bytes, of which the padding is half.
 */
export function renderMadeReport(report: MadeReport, records: number): string {
  const { domain, day, reporter } = report;
  const name = toDomainName(domain);
  const begin = FIRST_DAY + day * DAY_SECONDS;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${renderPadding(report)} -->
<feedback>
  <version>1.0</version>
  <report_metadata>
    <org_name>Mailbox Provider ${reporter}</org_name>
    <email>dmarc-reports@provider-${reporter}.example</email>
    <extra_contact_info>https://provider-${reporter}.example/dmarc</extra_contact_info>
    <report_id>${toText(`${name} ${day} ${reporter}`, 32)}</report_id>
    <date_range><begin>${begin}</begin><end>${begin + DAY_SECONDS - 1}</end></date_range>
  </report_metadata>
  <policy_published>
    <domain>${name}</domain><adkim>r</adkim><aspf>r</aspf><p>quarantine</p><sp>none</sp><pct>100</pct>
  </policy_published>
${Array.from({ length: records }, (_, i) => renderOne(report, records, i)).join('\n')}
</feedback>
`;
}

function renderOne(report: MadeReport, records: number, i: number): string {
  const { domain, day, reporter } = report;
  const isStranger = i === records - 1 && (day + reporter + domain) % WITH_STRANGER === 0;
  const steady = Math.max(STEADY, records);
  const source = isStranger ? `stranger ${day} ${reporter}` : `${(i * 7 + reporter) % steady}`;
  return renderRecord(report, `${toDomainName(domain)} ${source}`, isStranger);
}

function renderRecord({ domain, day, reporter }: MadeReport, source: string, fails: boolean) {
  const n = toNumber(source);
  const [name, service] = [toDomainName(domain), `mailer-${n % 50}.example`];
  const count = 1 + (toNumber(`${source} ${day} ${reporter}`) % 300);
  const own = fails ? '' : renderSignature(name, `selector${n % 3}`);
  // Some services give each customer a selector.
  const selector = n % 5 === 0 ? toText(source, 32) : `s${n % 7}`;
  return `  <record>
    <row>
      <source_ip>${toAddress(source)}</source_ip>
      <count>${count}</count>
      <policy_evaluated>
        <disposition>${fails ? 'quarantine' : 'none'}</disposition>
        <dkim>${fails ? 'fail' : 'pass'}</dkim>
        <spf>${fails || count % 5 === 0 ? 'fail' : 'pass'}</spf>
      </policy_evaluated>
    </row>
    <identifiers>
      <envelope_to>provider-${reporter}.example</envelope_to>
      <envelope_from>bounces.${service}</envelope_from>
      <header_from>${name}</header_from>
    </identifiers>
    <auth_results>
${own}${renderSignature(service, selector)}      <spf>
        <domain>bounces.${service}</domain>
        <scope>mfrom</scope>
        <result>pass</result>
      </spf>
    </auth_results>
  </record>`;
}

function renderSignature(domain: string, selector: string): string {
  return `      <dkim>
        <domain>${domain}</domain>
        <selector>${selector}</selector>
        <result>pass</result>
      </dkim>
`;
}

/** One address in four is of IPv6. */
function toAddress(source: string): string {
  const n = toNumber(source);
  if (n % 4 === 0) return `2001:db8:${toText(source, 4)}::${1 + (n & 4095)}`;
  return `198.${18 + (n & 1)}.${(n >> 1) & 255}.${(n >> 9) & 255}`;
}

/** What does not compress: it stands for what mails and longer texts add to an original. */
function renderPadding({ domain, day, reporter }: MadeReport): string {
  const from = `${domain} ${day} ${reporter}`;
  const length = MIN_BLOCKS + (toNumber(from) % (MAX_BLOCKS - MIN_BLOCKS + 1));
  return Array.from({ length }, (_, i) => hash('sha256', `${from} ${i}`, 'base64')).join('');
}

function toText(from: string, length: number): string {
  return hash('sha256', from, 'hex').slice(0, length);
}

function toNumber(from: string): number {
  return Number.parseInt(toText(from, 8), 16);
}
