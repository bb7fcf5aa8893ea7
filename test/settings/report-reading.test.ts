import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { isOfDomain } from '../../src/store/lists/heads.ts';
import { type Api, startApi } from '../support/api.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { takeIn } from '../support/ingest.ts';
import { PLAIN } from '../support/intake.ts';
import { aVisitor, type Browser, toReadable } from '../support/visitor.ts';

let api: Api;
let accountId: string;
let browser: Browser;

beforeAll(async () => {
  api = await startApi();
  accountId = await aBareAccount(api.db);
  ({ browser } = await aVisitor(api, accountId));
});
afterAll(() => api.close());

let count = 0;

/** The path of a report. */
async function aReportIn(toSource: (xml: string) => string, xml = PLAIN): Promise<string> {
  const { id: domainId, name } = await aDomain(api.db, accountId, { name: `c${++count}.example` });
  await takeIn(api, toSource(xml.replace('<domain>example.com<', `<domain>${name}<`)));
  return await pathOf(domainId);
}

async function pathOf(domainId: string): Promise<string> {
  const report = api.db.selectFrom('report').select('id').where(isOfDomain(domainId));
  const { id } = await report.executeTakeFirstOrThrow();
  return `/settings/domains/${domainId}/reports/${id}`;
}

const toMail = (xml: string) => `From: a@example.net
To: b@example.com
Subject: Report domain: example.com
MIME-Version: 1.0
Content-Type: application/xml; name="report.xml"
Content-Transfer-Encoding: base64

${Buffer.from(xml).toString('base64')}
`;

const [RECORD = ''] = /<record>[\s\S]*?<\/record>/.exec(PLAIN) ?? [];
const largeWith = (records: number) => PLAIN.replace(RECORD, RECORD.repeat(records));
const itself = (xml: string) => xml;

describe('a report', () => {
  test('in a mail has its records and its original', async () => {
    const path = await aReportIn(toMail);
    expect(toReadable((await browser.get(path)).text)).toContain('2001:db8::25');
    const { text, status } = await browser.download(`${path}/original`);
    expect(status).toBe(200);
    expect(text).toContain('<report_id>2026-0001</report_id>');
  });

  test('of 10,001 records has the largest, the sums of the others, and the whole original', async () => {
    const path = await aReportIn(itself, largeWith(10_000));
    const text = toReadable((await browser.get(`${path}?from=9900`)).text);
    expect(text).toContain('10,001 records');
    expect(text).toContain(
      'The 10,000 with the most messages are listed. All others: 1 record with 3 messages, of which 3 failed.',
    );
    expect(text).toContain('9,901 to 10,000 of 10,000');
    const original = await browser.download(`${path}/original`);
    expect(original.text.match(/<record>/g)).toHaveLength(10_001);
  });

  test('with texts of 10 kB each is a small page', async () => {
    const evil = '"'.repeat(10_000);
    const record = RECORD.replace(
      /(<(?:selector|header_from|domain|result|scope)>)[^<]*/g,
      `$1${evil}`,
    ).replace(
      '</policy_evaluated>',
      `<reason><type>${evil}</type><comment>${evil}</comment></reason></policy_evaluated>`,
    );
    const path = await aReportIn(itself, PLAIN.replace(RECORD, record.repeat(150)));
    let [next, shown] = [0, 0];
    for (; next < 151; shown += 1) {
      const { text } = await browser.get(`${path}?from=${next}`);
      expect(text.length).toBeLessThan(1_000_000);
      const [, from, to] = /<span>(\d+) to (\d+) of 151</.exec(text) ?? [];
      expect(Number(from)).toBe(next + 1);
      next = Number(to);
    }
    expect(shown).toBeLessThan(20);
  });

  test('is sent to one person twice at the same time, and to others meanwhile', async () => {
    const path = `${await aReportIn(itself, largeWith(40_000))}/original`;
    const { browser: other } = await aVisitor(api, accountId);
    // More than the kernel's buffers hold: what nobody reads is being sent until it is cancelled.
    const url = `http://127.0.0.1:${api.port}${path}`;
    const open = () => fetch(url, { headers: { Cookie: browser.cookie } });
    const held = [await open(), await open()];
    expect(held.map(({ status }) => status)).toEqual([200, 200]);
    expect((await browser.download(path)).status).toBe(503);
    expect((await other.download(path)).status).toBe(200);
    for (const { body } of held) await body?.cancel();
    await expect.poll(async () => (await browser.download(path)).status).toBe(200);
  });
});

test('a person looks at 300 reports in fifteen minutes, whether or not there are such reports', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { browser: eager } = await aVisitor(api, accountId);
  const { id } = await aDomain(api.db, accountId);
  const none = `/settings/domains/${id}/reports/00000000-0000-4000-8000-000000000000`;
  for (let i = 0; i < 150; i++) {
    expect((await eager.get(none)).status).toBe(404);
    expect((await eager.get(`${none}/original`)).status).toBe(404);
  }
  const path = await aReportIn(itself);
  for (const place of [path, `${path}/original`]) {
    const { status, headers, text } = await eager.get(place);
    expect([status, headers['retry-after']]).toEqual([429, '900']);
    expect(toReadable(text)).toContain('Too many pages in a short time. Try again in 15 minutes.');
  }
  expect((await browser.get(path)).status).toBe(200);
});
