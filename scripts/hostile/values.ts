/** Well-formed reports whose values cost too much or are not possible. */
import { gzipSync } from 'node:zlib';
import type { Hostile } from './hostile.ts';

interface Parts {
  readonly root?: string;
  readonly id?: string;
  readonly metadata?: string;
  readonly begin?: string;
  readonly end?: string;
  readonly policy?: string;
  readonly records?: string;
}

const DAY = 86_400;
/** Midnight of 1 January 2026. */
const BEGIN = 1_767_225_600;

/** A small report with the given parts. */
export function aReportWith(parts: Parts): string {
  const { root = '', id = '1', metadata = '<org_name>Reporter</org_name>', policy = '' } = parts;
  const { begin = `${BEGIN}`, end = `${BEGIN + DAY - 1}`, records = aRecord() } = parts;
  return `<feedback${root}><report_metadata>${metadata}<email>a@reporter.example</email><report_id>${id}</report_id>
<date_range><begin>${begin}</begin><end>${end}</end></date_range></report_metadata>
<policy_published><domain>example.com</domain>${policy}</policy_published>${records}</feedback>`;
}

interface Row {
  readonly ip?: string;
  readonly count?: string;
  readonly results?: string;
}

export function aRecord({ ip = '192.0.2.1', count = '1', results = '' }: Row = {}): string {
  return `<record><row><source_ip>${ip}</source_ip><count>${count}</count><policy_evaluated><disposition>none</disposition><dkim>fail</dkim><spf>fail</spf></policy_evaluated></row><identifiers><header_from>example.com</header_from></identifiers><auth_results>${results}</auth_results></record>`;
}

const times = (count: number, render: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => render(i)).join('');

const packed = (name: string, xml: () => string): Hostile => ({
  name,
  bytes: () => gzipSync(xml(), { level: 1 }),
});

const element = (name: string, text: string): string => `<${name}>${text}</${name}>`;
const dkim = (text: string): string =>
  `<dkim><domain>${text}</domain><selector>${text}</selector><result>pass</result><human_result>${text}</human_result></dkim>`;
const MILLION = 'x'.repeat(1_000_000);
const WORDS = ['p', 'sp', 'np', 'adkim', 'aspf', 'fo', 'testing', 'discovery_method'];

export const HOSTILE_VALUES: readonly Hostile[] = [
  packed('an xmlns of 990,000 characters', () =>
    aReportWith({ root: ` xmlns="${'n'.repeat(990_000)}"` }),
  ),
  packed('1,000 errors of 4 kB', () =>
    aReportWith({ metadata: times(1_000, () => element('error', 'e'.repeat(4_000))) }),
  ),
  packed('a count of 2^53 - 1', () =>
    aReportWith({ records: aRecord({ count: '9007199254740991' }) }),
  ),
  packed('a window in the year 5138', () =>
    aReportWith({ begin: '99999999999', end: '99999999999' }),
  ),
  packed('30 DKIM results of 700,000 characters in each value', () =>
    aReportWith({
      records: aRecord({ results: times(30, () => dkim(MILLION.slice(0, 700_000))) }),
    }),
  ),
  packed('a record of 5,000 DKIM results', () =>
    aReportWith({ records: aRecord({ results: times(5_000, () => dkim('d'.repeat(900))) }) }),
  ),
  packed('every name of a million characters', () =>
    aReportWith({
      metadata: `${element('org_name', MILLION)}${element('generator', MILLION)}${element('extra_contact_info', MILLION)}`,
      policy: WORDS.map((name) => element(name, MILLION)).join(''),
    }),
  ),
  packed('a report id of a million characters', () => aReportWith({ id: MILLION })),
  packed('a count of a million digits', () =>
    aReportWith({ records: aRecord({ count: '9'.repeat(1_000_000) }) }),
  ),
  packed('a begin of a million digits', () => aReportWith({ begin: '1'.repeat(1_000_000) })),
  packed('a begin in milliseconds of the year 5138', () =>
    aReportWith({ begin: '99999999999000', end: '99999999999000' }),
  ),
  packed('a window that ends in the year 5138', () => aReportWith({ end: '99999999999' })),
  packed('negative dates', () => aReportWith({ begin: '-1', end: '-99999999999' })),
  packed('a domain of a million labels', () =>
    aReportWith({ policy: '' }).replace('example.com', 'a.'.repeat(499_000)),
  ),
  packed('a domain of a million ideographs', () =>
    aReportWith({ policy: '' }).replace('example.com', '\u4e2d'.repeat(900_000)),
  ),
  packed('50,000 addresses', () =>
    aReportWith({ records: times(50_000, (i) => aRecord({ ip: `2001:db8::${i.toString(16)}` })) }),
  ),
  packed('20,000 addresses of a thousand messages', () =>
    aReportWith({
      records: times(20_000, (i) =>
        aRecord({ ip: `2001:db8:${i.toString(16)}::1`, count: '1000' }),
      ),
    }),
  ),
  packed('100,000 records with every value wrong', () =>
    aReportWith({
      records: times(
        100_000,
        () => '<record><row><count>?</count><source_ip>?</source_ip></row></record>',
      ),
    }),
  ),
  packed('an e-mail address of a million signs', () =>
    aReportWith({ metadata: element('email', '@'.repeat(1_000_000)) }),
  ),
  packed('an organisation of control and bidi characters', () =>
    aReportWith({ metadata: element('org_name', '\u202e\u2066&#x85;&#x9b;31m\u2028') }),
  ),
  packed('a million blanks around each value', () =>
    aReportWith({
      metadata: times(5, () =>
        element('org_name', `${' '.repeat(499_000)}x${' '.repeat(499_000)}`),
      ),
    }),
  ),
];
