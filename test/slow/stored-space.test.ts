import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Db } from '../../src/store/engine/database.ts';
import { trimUnclaimed } from '../../src/store/reports/aging/unclaimed.ts';
import { aReportXml, deliverMail } from '../support/inbox.ts';
import { workAll } from '../support/inbox-worker.ts';
import { base64, type MailPart, mail, multipart } from '../support/mail.ts';
import { aStore, IS_POSTGRES } from '../support/store.ts';
import { zip } from '../support/zip.ts';

/* What mails of strangers leave in the database. */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Pages that are in use. */
async function measure(db: Db): Promise<number> {
  const pages = sql<{ bytes: number }>`select (page_count - freelist_count) * page_size as bytes
    from pragma_page_count, pragma_freelist_count, pragma_page_size`;
  const { rows } = await db.write((tx) => pages.execute(tx));
  return rows[0]?.bytes ?? 0;
}

const noise = (bytes: number) => randomBytes(bytes / 2).toString('hex');
const withNoise = (xml: string, mib: number) =>
  multipart([base64(xml), base64(randomBytes(mib * MIB))]);
const comments = (bytes: number) => `<!--${noise(900_000)}-->`.repeat(Math.ceil(bytes / 900_000));
const inXml = (more: string, id?: string) =>
  aReportXml(id).replace('<report_metadata>', `<report_metadata>${more}`);
const record = (name: string) =>
  `<record><row><source_ip>192.0.2.1</source_ip><count>1</count><policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>pass</spf></policy_evaluated></row><identifiers><header_from>${name}</header_from></identifiers></record>`;

const many = (count: number, make: (i: number) => MailPart) =>
  Array.from({ length: count }, (_, i) => () => mail(make(i)));
const members = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    name: `${i}.xml`,
    content: aReportXml(`m-${i}`, `d${i}.example`),
  }));
const long = () => `${noise(60)}.${noise(60)}.${noise(60)}.example`;
const records = (count: number) => Array.from({ length: count }, () => record(long())).join('');

/** What the mails may add, and what may be left when reports of unclaimed domains have 1 MiB. */
const ATTACKS: [what: string, mails: (() => Buffer)[], maxKib: number, maxLeftKib: number][] = [
  ['8 reports beside 17 MB', many(8, (i) => withNoise(aReportXml(`noise-${i}`), 17)), 100, 100],
  ['8 times one report beside 8 MB', many(8, () => withNoise(aReportXml('same'), 8)), 50, 50],
  [
    '40 contents of one report',
    many(40, () => base64(inXml(`<!--${noise(20 * KIB)}-->`, 'same'))),
    300,
    300,
  ],
  [
    '10 MB behind a gzip',
    many(2, () => base64(Buffer.concat([gzipSync(aReportXml()), randomBytes(10 * MIB)]))),
    21_000,
    1_100,
  ],
  ['10 MB of comments', many(2, () => base64(gzipSync(inXml(comments(10 * MIB))))), 100, 100],
  ['2,000 domains in one mail', many(1, () => base64(zip(members(2000)))), 5_000, 1_300],
  [
    '8,000 records with long names',
    many(1, () =>
      base64(gzipSync(aReportXml().replace('</feedback>', `${records(8000)}</feedback>`))),
    ),
    2_000,
    1_100,
  ],
  [
    '1,000 errors',
    many(4, () => base64(inXml(`<error>${noise(4000)}</error>`.repeat(1000)))),
    100,
    100,
  ],
  [
    'report ids of 512 characters',
    many(20, (i) => base64(aReportXml(`${noise(508)}${i}`))),
    100,
    100,
  ],
  [
    'broken reports of 17 MB',
    many(3, () => base64(gzipSync(`${inXml(comments(17 * MIB))}<`))),
    100,
    100,
  ],
  ['30 broken reports', many(30, (i) => base64(`${aReportXml().slice(0, -20)}${i}`)), 150, 150],
];

test.skipIf(IS_POSTGRES).each(ATTACKS)(
  '%s leave little in the database',
  async (_what, mails, maxKib, maxLeftKib) => {
    const { db } = await aStore();
    await deliverMail(db, { bytes: mail(withNoise(aReportXml('first'), 20)) });
    await workAll(db);
    const before = await measure(db);
    for (const make of mails) {
      await deliverMail(db, { bytes: make() });
      await workAll(db);
    }
    expect((await measure(db)) - before).toBeLessThan(maxKib * KIB);
    await trimUnclaimed(db, { bytes: MIB, days: 100_000, mayGoOn: async () => true });
    expect((await measure(db)) - before).toBeLessThan(maxLeftKib * KIB);
  },
  120_000,
);
