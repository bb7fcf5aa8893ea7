/** Archives of many reports: cheap to read, but possibly expensive to store. */
import { gzipSync } from 'node:zlib';
import type { Hostile } from './hostile.ts';
import { aRecord, aReportWith } from './values.ts';
import { deflated, stored, zipOf } from './zip-bytes.ts';

const DAY_SECONDS = 86_400;
/** Midnight of 1 January 2012: DMARC has no older reports. */
const FIRST_DAY = 1_325_376_000;
const MOST_ENTRIES = 65_535;

/** A stored zip in a gzip, so that similar reports take very little space. */
const archive = (name: string, count: number, report: (i: number) => string): Hostile => ({
  name,
  bytes: () => gzipSync(zipOf(Array.from({ length: count }, (_, i) => stored(`${i}`, report(i))))),
});

/** The same for large reports: each is compressed, because a nested container has at most 64 MiB. */
const packed = (name: string, count: number, report: (i: number) => string): Hostile => ({
  name,
  bytes: () =>
    gzipSync(zipOf(Array.from({ length: count }, (_, i) => deflated(`${i}`, report(i))))),
});

const records = (count: number, render: (i: number) => Parameters<typeof aRecord>[0]): string =>
  Array.from({ length: count }, (_, i) => aRecord(render(i))).join('');

const onDay = (day: number) => ({
  begin: `${FIRST_DAY + day * DAY_SECONDS}`,
  end: `${FIRST_DAY + (day + 1) * DAY_SECONDS}`,
});

export const HOSTILE_ARCHIVES: readonly Hostile[] = [
  packed('250 reports with an xmlns of 990,000 characters', 250, (i) =>
    aReportWith({ id: `${i}`, root: ` xmlns="${'n'.repeat(990_000)}"` }),
  ),
  packed('24 reports with 1,000 errors of 4 kB', 24, (i) =>
    aReportWith({ id: `${i}`, metadata: `<error>${'e'.repeat(4_000)}</error>`.repeat(1_000) }),
  ),
  archive('1,030 reports of 2^53 - 1 messages', 1_030, (i) =>
    aReportWith({ id: `${i}`, records: aRecord({ count: '9007199254740991' }) }),
  ),
  archive('4,000 reports of 10^12 messages', 4_000, (i) =>
    aReportWith({ id: `${i}`, records: aRecord({ count: '1000000000000' }) }),
  ),
  archive('5,000 dates and 5,000 addresses', 5_000, (i) =>
    aReportWith({
      id: `${i}`,
      ...onDay(i),
      records: aRecord({ ip: `2001:db8::${i.toString(16)}`, count: '100' }),
    }),
  ),
  archive('50 reports dated in the year 5138', 50, (i) =>
    aReportWith({ id: `${i}`, begin: '99990000000', end: '99990000000' }),
  ),
  archive('20,000 reports', 20_000, (i) => aReportWith({ id: `${i}` })),
  archive('20,000 reports, each for a domain of its own', 20_000, (i) =>
    aReportWith({ id: `${i}` }).replace('example.com', `d${i}.example`),
  ),
  packed('700 reports of 200 addresses', 700, (i) =>
    aReportWith({
      id: `${i}`,
      ...onDay(i),
      records: records(200, (n) => ({ ip: `2001:db8::${i.toString(16)}:${n.toString(16)}` })),
    }),
  ),
  archive('10,000 reports, each with the longest names', 10_000, (i) =>
    aReportWith({ id: `${i}`, metadata: `<org_name>${i}${'o'.repeat(990)}</org_name>` }),
  ),
  archive('65,535 members that are no report', MOST_ENTRIES, () => '<html>'),
  archive('30,000 members that are broken', 30_000, () => '<feedback><'),
  archive('20,000 reports of one identity', 20_000, (i) =>
    aReportWith({ id: 'one', records: aRecord({ count: `${i}` }) }),
  ),
];
