import { hash } from 'node:crypto';
import { addDays, type Day } from '../../src/domain/instant.ts';

const FIRST_DAY = '2023-01-01';
const DAY_SECONDS = 86_400;
/** One report in as many has an address that no other day has, whose mail fails. */
const WITH_STRANGER = 4;
/** Of 32 bytes each. */
const [MIN_BLOCKS, MAX_BLOCKS] = [15, 45];

/** What a domain gets from one reporter for a day. */
export interface MadeReport {
  readonly domain: string;
  /** Counted from the first day. */
  readonly day: number;
  readonly reporter: number;
  readonly records: number;
  /** Addresses from which the domain's mail comes. */
  readonly addresses: number;
}

export const toDay = (day: number): Day => addDays(FIRST_DAY, day);

/**
 * Records have addresses, signatures and domains of their own, the same from day to day. With ten records the report's gzip
 * has 1,570 to 2,540 bytes, of which the padding is half.
 */
export function renderReport(report: MadeReport): string {
  const { domain, day, reporter, records } = report;
  const begin = Date.parse(`${toDay(day)}T00:00:00Z`) / 1_000;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${renderPadding(report)} -->
<feedback>
  <version>1.0</version>
  <report_metadata>
    <org_name>Mailbox Provider ${reporter}</org_name>
    <email>dmarc-reports@provider-${reporter}.example</email>
    <extra_contact_info>https://provider-${reporter}.example/dmarc</extra_contact_info>
    <report_id>${toHex(`${domain} ${day} ${reporter}`, 32)}</report_id>
    <date_range><begin>${begin}</begin><end>${begin + DAY_SECONDS - 1}</end></date_range>
  </report_metadata>
  <policy_published>
    <domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf><p>quarantine</p><sp>none</sp><pct>100</pct>
  </policy_published>
${Array.from({ length: records }, (_, i) => renderOne(report, i)).join('\n')}
</feedback>
`;
}

function renderOne(report: MadeReport, i: number): string {
  const { domain, day, reporter, records, addresses } = report;
  const isStranger = i === records - 1 && (day + reporter) % WITH_STRANGER === 0;
  const known = (i * Math.floor(addresses / records) + day * 7 + reporter) % addresses;
  const source = isStranger ? `stranger ${day} ${reporter}` : `${known}`;
  return renderRecord(report, `${domain} ${source}`, isStranger);
}

function renderRecord({ domain, day, reporter }: MadeReport, source: string, fails: boolean) {
  const n = toNumber(source);
  const service = SERVICES[n % 50] ?? `mailer-${n % 50}.example`;
  const count = 1 + ((n + 31 * day + reporter) % 300);
  const own = fails ? '' : renderSignature(domain, `selector${n % 3}`);
  // Some services give each customer a selector.
  const selector = n % 5 === 0 ? toHex(source, 32) : `s${n % 7}`;
  return `  <record>
    <row>
      <source_ip>${toAddress(n)}</source_ip>
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
      <header_from>${domain}</header_from>
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

/** Some that the product knows by name. */
const SERVICES = ['sendgrid.net', 'mcsv.net', 'amazonses.com', 'mailgun.org', 'mandrillapp.com'];

function renderSignature(domain: string, selector: string): string {
  return `      <dkim>
        <domain>${domain}</domain>
        <selector>${selector}</selector>
        <result>pass</result>
      </dkim>
`;
}

/** One address in four is of IPv6. */
function toAddress(n: number): string {
  if (n % 4 === 0) return `2001:db8:${(n >>> 16).toString(16)}::${1 + (n & 4095)}`;
  return `198.${18 + ((n >>> 2) & 1)}.${(n >>> 3) & 255}.${(n >>> 11) & 255}`;
}

/** What does not compress: it stands for what mails and longer texts add to an original. */
function renderPadding({ domain, day, reporter }: MadeReport): string {
  const from = `${domain} ${day} ${reporter}`;
  const length = MIN_BLOCKS + (toNumber(from) % (MAX_BLOCKS - MIN_BLOCKS + 1));
  return Array.from({ length }, (_, i) => hash('sha256', `${from} ${i}`, 'base64')).join('');
}

function toHex(from: string, length: number): string {
  return hash('sha256', from, 'hex').slice(0, length);
}

function toNumber(from: string): number {
  return Number.parseInt(toHex(from, 8), 16);
}
