import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MailProof } from '../../src/domain/reports/authentication.ts';
import { unpackContent } from '../../src/domain/reports/report-content.ts';
import { toSizeText } from '../../src/domain/size.ts';
import { isOfDomain } from '../../src/store/lists/heads.ts';
import { type Api, startApi } from '../support/api.ts';
import { aBareAccount, aDomain, aReport, receive } from '../support/builders.ts';
import { takeIn } from '../support/ingest.ts';
import { fixture, PLAIN } from '../support/intake.ts';
import { base64, mail, multipart, text } from '../support/mail.ts';
import { aVisitor, type Browser, toReadable, withoutToken } from '../support/visitor.ts';
import { zip } from '../support/zip.ts';

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

/** The plain report about a domain of its own. */
async function aPlainReport({
  from = PLAIN,
  pack = (xml: string): Uint8Array | string => xml,
  owner = accountId,
  fileName = 'report.xml',
} = {}) {
  const name = `r${++count}.example`;
  const { id: domainId } = await aDomain(api.db, owner, { name });
  const xml = from.replace('<domain>example.com</domain>', `<domain>${name}</domain>`);
  await takeIn(api, pack(xml), { name: fileName });
  return { ...(await placeOf(domainId)), domainId, name, xml };
}

async function placeOf(domainId: string) {
  const { id } = await api.db
    .selectFrom('report')
    .select('id')
    .where(isOfDomain(domainId))
    .executeTakeFirstOrThrow();
  return { id, path: `/settings/domains/${domainId}/reports/${id}` };
}

const read = async (path: string) => toReadable((await browser.get(path)).text);

describe('a report’s page', () => {
  test('has its metadata, the policy published, and every record with its results', async () => {
    const { path } = await aPlainReport({ fileName: '/srv/customers/report.xml' });
    const text = await read(path);
    expect(text).toContain('70% of 10 messages passed DMARC');
    expect(text).toContain('Reporter Example Mail E-mail dmarc@example.net');
    expect(text).toContain('Contact https://example.net/dmarc Report id 2026-0001');
    expect(text).toContain('Window 1 Jan 2026, 00:00:00 UTC to 1 Jan 2026, 23:59:59 UTC');
    expect(text).toContain('Came as A file: report.xml');
    expect(text).toContain(
      'Policy (p) quarantine Subdomains (sp) none DKIM alignment (adkim) r (relaxed)',
    );
    expect(text).toContain('Share of messages (pct) 50% Failure reports (fo) 1:d');
    expect(text).toMatch(
      /2001:db8::25 From example\.com 3 Failed quarantined Not aligned Not aligned 192\.0\.2\.1 /,
    );
    expect(text).toMatch(
      /192\.0\.2\.1 From example\.com 7 Passed no action Aligned pass for example\.com , selector s1 Not aligned softfail for bounce\.example\.org \( mfrom \)/,
    );
    expect(text).not.toContain('/srv/customers');
  });

  test('says the reporter’s mistakes in words', async () => {
    const from = PLAIN.replace('<email>dmarc@example.net</email>', '');
    const { path } = await aPlainReport({ from });
    expect(await read(path)).toContain('The reporter gives no e-mail address. Once at line 4');
  });

  test('says that another document contradicts it', async () => {
    const { path, xml } = await aPlainReport();
    await takeIn(api, xml.replace('<count>7</count>', '<count>8</count>'));
    const text = await read(path);
    expect(text).toContain('Conflict 1 other document with the same reporter, id and window');
    expect(text).toContain('of 10 messages');
  });

  test('has parts of a hundred records, those that failed most first', async () => {
    const [whole] = /<record>[\s\S]*?<\/record>/.exec(PLAIN) ?? [''];
    const records = Array.from({ length: 150 }, (_, i) =>
      whole
        .replace('192.0.2.1', `198.51.100.${i}`)
        .replace('<count>7', `<count>${i + 1}`)
        .replace('<dkim>pass</dkim>', i === 3 ? '<dkim>fail</dkim>' : '<dkim>pass</dkim>'),
    );
    const { path } = await aPlainReport({ from: PLAIN.replace(whole, records.join('')) });
    const first = await read(path);
    expect(first).toContain('151 records, those with the most failed messages first');
    expect(first.indexOf('198.51.100.3 ')).toBeLessThan(first.indexOf('198.51.100.149 '));
    expect(first).toContain('1 to 100 of 151 Next');
    const second = await read(`${path}?from=100`);
    expect(second).toContain('198.51.100.0 ');
    expect(second).toContain('Previous 101 to 151 of 151');
    expect(await read(`${path}?from=900`)).toContain('There are no more records.');
    for (const from of ['-1', '99999999999999999999'])
      expect((await browser.get(`${path}?from=${from}`)).status).toBe(200);
  });

  test.each([
    ['in gzip', (xml: string) => gzipSync(xml)],
    [
      'beside other reports in an archive',
      (xml: string) =>
        zip([
          { name: 'a.xml', content: fixture('aol-prefixed.xml') },
          { name: 'b.xml', content: xml },
        ]),
    ],
  ])('of a document %s', async (_how, pack) => {
    const { path } = await aPlainReport({ pack });
    expect(await read(path)).toContain('2001:db8::25');
  });

  test('needs no original: without one, only the download is not found', async () => {
    const { path, id } = await aPlainReport();
    const { document_seq: seq } = await api.db
      .selectFrom('report')
      .select('document_seq')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const content = Buffer.alloc(0);
    await api.db.write((tx) =>
      tx.updateTable('document').set({ content }).where('seq', '=', seq).execute(),
    );
    expect(await read(path)).toContain('2001:db8::25 From example.com 3 Failed');
  });
});

describe('of another account', () => {
  test('a report, its original and its list are not found, in the same bytes as none', async () => {
    const other = await aBareAccount(api.db);
    const { id, domainId } = await aPlainReport({ owner: other });
    const { domainId: own } = await aPlainReport();
    const none = '00000000-0000-8000-8000-000000000000';
    for (const end of ['', '/original', '/json', '/xml']) {
      const [theirs, unknown, mine, missing] = await Promise.all(
        [
          `/settings/domains/${domainId}/reports/${id}${end}`,
          `/settings/domains/${none}/reports/${none}${end}`,
          `/settings/domains/${own}/reports/${id}${end}`,
          `/settings/domains/${own}/reports/${none}${end}`,
        ].map((path) => browser.get(path)),
      );
      expect([theirs?.status, mine?.status]).toEqual([404, 404]);
      expect(withoutToken(theirs?.text)).toBe(withoutToken(unknown?.text));
      expect(withoutToken(mine?.text)).toBe(withoutToken(missing?.text));
    }
    const list = await browser.get(`/settings/domains/${domainId}/reports`);
    expect(list.status).toBe(404);
    const unknown = await browser.get(`/settings/domains/${none}/reports`);
    expect(withoutToken(list.text)).toBe(withoutToken(unknown?.text));
    expect((await browser.get(`/settings/domains/${own}/reports/%00`)).status).toBe(404);
  });
});

describe('the original', () => {
  const gzip = (xml: string) => gzipSync(xml);
  const beside = (content: Uint8Array | string) =>
    zip([
      { name: 'b', content },
      { name: 'a.xml', content: fixture('aol-prefixed.xml') },
    ]);
  test.each<
    [string, (xml: string) => Uint8Array | string, ((xml: string) => Buffer) | undefined, string]
  >([
    ['XML', (xml) => xml, undefined, '.xml'],
    ['a gzip', gzip, gzip, '.xml.gz'],
    ['a gzip beside other reports', (xml) => beside(gzip(xml)), gzip, '.xml.gz'],
    ['XML beside other reports', beside, undefined, '.xml'],
    [
      'an attachment of a mail',
      (xml) => mail(multipart([text('x'), base64(gzip(xml))])),
      gzip,
      '.xml.gz',
    ],
    [
      'a zip in a mail',
      (xml) => mail(base64(zip([{ name: 'x', content: xml }]))),
      (xml) => zip([{ name: 'x', content: xml }]),
      '.zip',
    ],
  ])(
    'of a report in %s is its part of the input, as a file to save',
    async (_what, pack, kept, ending) => {
      const { path, xml, name, id } = await aPlainReport({ pack });
      const { status, headers, bytes } = await browser.download(`${path}/original`);
      const wanted = Buffer.from(kept?.(xml) ?? xml);
      expect([status, bytes]).toEqual([200, wanted]);
      expect(headers).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-length': `${wanted.length}`,
        'content-disposition': `attachment; filename="${name}-2026-01-01-${id.slice(0, 8)}${ending}"`,
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      expect(await read(path)).toContain(`Download the original, ${toSizeText(wanted.length)}`);
    },
  );

  test('of several parts is sent whole', async () => {
    // Hexadecimal digits do not compress to less than half.
    const noise = `<!-- ${randomBytes(2_500_000).toString('hex')} -->`;
    const pack = (xml: string) => `${xml}${noise}`;
    const { path, xml } = await aPlainReport({ pack });
    const { bytes } = await browser.download(`${path}/original`);
    expect(bytes.equals(Buffer.from(pack(xml)))).toBe(true);
  });

  test.each([
    ['was not kept', { content: null, content_bytes: null, encoding: null }],
    ['is not kept any more', { content: null }],
  ])('that %s is not found, and the page says so', async (missing, none) => {
    const { path, id } = await aPlainReport();
    const { document_seq: seq } = await api.db
      .selectFrom('report')
      .select('document_seq')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await api.db.write((tx) =>
      tx.updateTable('document').set(none).where('seq', '=', seq).execute(),
    );
    expect((await browser.get(`${path}/original`)).status).toBe(404);
    expect(await read(path)).toContain(`The original ${missing}`);
  });

  test('needs a signed-in person', async () => {
    const { path } = await aPlainReport();
    const answer = await request(`http://127.0.0.1:${api.port}`).get(`${path}/original`);
    expect(answer.status).toBe(303);
  });
});

describe('a whole report', () => {
  test('as XML is read again as the same report', async () => {
    const evil = '&lt;a&gt; &amp;amp; &#13;x';
    const from = PLAIN.replace(/<extra_contact_info>[^<]*/, `<extra_contact_info>${evil}`);
    const { path, domainId, name } = await aPlainReport({ from });
    const { text, headers } = await browser.download(`${path}/xml`);
    expect(headers['content-disposition']).toMatch(/^attachment; filename="[^"]+\.xml"$/);
    expect(text).toContain('<extra_contact_info>&lt;a&gt; &amp;amp; &#13;x<');
    const other = `again-${name}`;
    const { id } = await aDomain(api.db, accountId, { name: other });
    await takeIn(api, text.replaceAll(`<domain>${name}<`, `<domain>${other}<`));
    const contents = await Promise.all(
      [domainId, id].map((one) =>
        api.db
          .selectFrom('report')
          .select('content')
          .where(isOfDomain(one))
          .executeTakeFirstOrThrow(),
      ),
    );
    const [first, again] = contents.map(({ content }) => unpackContent(content));
    expect(again?.records).toEqual(first?.records);
    expect({ ...again?.policyPublished, domain: name }).toEqual(first?.policyPublished);
    expect(again?.extraContactInfo).toBe(first?.extraContactInfo);
  });

  test('as JSON has the standard’s names', async () => {
    const { path, name } = await aPlainReport();
    const { text, headers } = await browser.download(`${path}/json`);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    const report = JSON.parse(text);
    expect(report.report_metadata).toMatchObject({
      ...{ org_name: 'Example Mail', report_id: '2026-0001' },
      date_range: { begin: 1767225600, end: 1767311999 },
    });
    expect(report.policy_published).toMatchObject({ domain: name, p: 'quarantine', pct: 50 });
    expect(report.record).toHaveLength(2);
    expect(report.record[0].row).toMatchObject({ source_ip: '192.0.2.1', count: 7 });
    expect(report.records_missing).toBe(0);
  });
});

describe('the list of reports', () => {
  async function aList(
    begins: readonly string[],
    orgs: readonly (string | null)[] = ['Mailbox Provider'],
  ) {
    const { id, name } = await aDomain(api.db, accountId);
    const reports = begins.flatMap((begin) =>
      orgs.map((orgName) => aReport({ domain: name, orgName, begin: `${begin}T00:00:00Z` })),
    );
    await receive(api.db, reports);
    return `/settings/domains/${id}/reports`;
  }

  /** The places of a list's reports, the newest first. */
  async function keysOf(path: string): Promise<readonly string[]> {
    const reports = await api.db
      .selectFrom('report')
      .select(['begin_date', 'seq'])
      .where(isOfDomain(String(path.split('/')[3])))
      .orderBy('begin_date', 'desc')
      .orderBy('seq', 'desc')
      .execute();
    return reports.map(({ begin_date, seq }) => `${begin_date}-${seq}`);
  }

  /** The days of the list's rows. */
  const daysOf = (text: string) =>
    [...text.matchAll(/role="cell"><time datetime="([\d-]+)T/g)].map(([, day]) => day);
  const links = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/<a href="([^"]+)">(Older|Newer|Newest)<\/a>/g)].map(([, path, name]) => [
        name,
        path?.replaceAll('&amp;', '&') ?? '',
      ]),
    );

  test('has the reports of the range, newest first, each with a link to its page', async () => {
    const path = await aList(['2026-03-01', '2026-03-10', '2026-01-01']);
    const { text } = await browser.get(path);
    expect(daysOf(text)).toEqual(['2026-03-10', '2026-03-01']);
    expect(text).toMatch(new RegExp(`<a href="${path}/[0-9a-f-]{36}">`));
    expect(daysOf((await browser.get(`${path}?days=90`)).text)).toHaveLength(3);
    const custom = `${path}?from=2026-01-01&to=2026-03-09`;
    expect(daysOf((await browser.get(custom)).text)).toEqual(['2026-03-01', '2026-01-01']);
  });

  test('of an empty range says where there are some, and of no report says so', async () => {
    const path = await aList(['2026-03-10']);
    const text = await read(`${path}?from=2026-01-01&to=2026-01-31`);
    expect(text).toContain('the newest is of 10 Mar 2026');
    expect(await read(await aList([]))).toContain('No report has come in yet.');
  });

  test('is walked back and forth: each report once, in both directions', async () => {
    const path = await aList(['2026-03-09', '2026-03-10'], Array(60).fill('Mailbox Provider'));
    const walk = async (start: string, name: 'Older' | 'Newer') => {
      const ids: string[][] = [];
      let next: string | undefined = start;
      let last = start;
      while (next !== undefined) {
        const { text }: { text: string } = await browser.get(next);
        ids.push([...text.matchAll(/reports\/([0-9a-f-]{36})"/g)].map(([, id]) => id ?? ''));
        last = next;
        next = links(text)[name];
      }
      return { ids, last };
    };
    const down = await walk(path, 'Older');
    expect(down.ids.map(({ length }) => length)).toEqual([50, 50, 20]);
    expect(new Set(down.ids.flat()).size).toBe(120);
    const up = await walk(down.last, 'Newer');
    expect(up.ids.toReversed()).toEqual(down.ids);
    expect(links((await browser.get(down.last)).text)['Newest']).toBe(`${path}?days=30`);
  });

  test('of one reporter has its reports only, by its exact name', async () => {
    const path = await aList(['2026-03-09', '2026-03-10'], ['A & “B”', 'a & “b”', null]);
    const { text } = await browser.get(path);
    expect(toReadable(text)).toContain('A & “B”, 2 a & “b”, 2');
    const [, value = ''] = /value="(name:A[^"]*)"/.exec(text) ?? [];
    const named = await browser.get(`${path}?reporter=${encodeURIComponent(value)}`);
    expect(daysOf(named.text)).toEqual(['2026-03-10', '2026-03-09']);
    expect(named.text).toContain(`<option value="${value}" selected>`);
    // A report without a name is called by the domain of its e-mail address, here as in the table.
    expect(toReadable(text)).toContain('provider.example, 2');
    expect(toReadable(text)).not.toContain('Unnamed reporter');
    const unnamed = await browser.get(`${path}?reporter=name:provider.example`);
    expect(daysOf(unnamed.text)).toHaveLength(2);
    expect(unnamed.text.match(/<bdi>provider\.example<\/bdi><\/a>/g)).toHaveLength(2);
    const [, page = ''] = /href="([^"]*)"><bdi>provider\.example/.exec(unnamed.text) ?? [];
    expect(await read(page)).toContain('Reporter provider.example E-mail');
    const nobody = await read(`${path}?reporter=name:nobody%00`);
    expect(nobody).toContain('No such report covers this range.');
  });

  test('of one kind of sender has its reports only, and says which are not authenticated', async () => {
    const path = await aList(['2026-03-08', '2026-03-09', '2026-03-10'], ['One', 'Two']);
    const authenticate = (begin: string, proof: MailProof) =>
      api.db.write((tx) =>
        tx
          .updateTable('report')
          .set(proof)
          .where(isOfDomain(String(path.split('/')[3])))
          .where('begin_date', '=', `${begin}T00:00:00Z`)
          .execute(),
      );
    await authenticate('2026-03-08', { authenticated: null, doubt: 'unproven' });
    await authenticate('2026-03-09', { authenticated: 'one.example', doubt: null });
    const daysFor = async (query: string) => daysOf((await browser.get(`${path}?${query}`)).text);
    expect(await daysFor('sender=not_authenticated')).toEqual(['2026-03-08', '2026-03-08']);
    expect(await daysFor('sender=authenticated')).toEqual(['2026-03-09', '2026-03-09']);
    expect(await daysFor('sender=file&reporter=name:One')).toEqual(['2026-03-10']);
    expect(await daysFor('sender=anything')).toHaveLength(6);
    const { text } = await browser.get(path);
    expect(text.match(/Not authenticated<\/span>/g)).toHaveLength(2);
    const summary = await browser.get(path.replace(/\/reports$/, ''));
    expect(summary.text.match(/Not authenticated<\/span>/g)).toHaveLength(2);
    const [, report = ''] = /([0-9a-f-]{36})">(?:(?!<\/a>).)*<\/a> <span/.exec(text) ?? [];
    expect(await read(`${path}/${report}`)).toContain('Sender Not authenticated Nothing proves');
    await authenticate('2026-03-08', { authenticated: 'one.example', doubt: 'new' });
    expect(await daysFor('sender=authenticated')).toHaveLength(4);
    expect((await browser.get(path)).text.match(/New sender<\/span>/g)).toHaveLength(2);
    expect(await read(`${path}/${report}`)).toContain(
      'Sender Authenticated as one.example New Its',
    );
  });

  test('of a reporter whose name has characters that nobody sees is found, and no page has them', async () => {
    const path = await aList(['2026-03-09'], ['A\r\u{e0041}B']);
    const { text } = await browser.get(path);
    expect(text).not.toMatch(/[\r\u{e0041}]/u);
    const [, value = ''] = /value="(name:A[^"]*)"/.exec(text) ?? [];
    const named = await browser.get(`${path}?reporter=${encodeURIComponent(value)}`);
    expect(daysOf(named.text)).toEqual(['2026-03-09']);
  });

  test('of one reporter leads back from a page without any to what was left, whole', async () => {
    const path = await aList(['2026-03-08', '2026-03-10'], ['A', 'B']);
    const keys = await keysOf(path);
    const [newest, oldest] = [keys[0], keys.at(-1)];
    for (const [place, side, words] of [
      [`newer=${newest}`, 'Older', 'There may be some among older ones.'],
      [`older=${oldest}`, 'Newer', 'There may be some among newer ones.'],
    ] as const) {
      const { text } = await browser.get(`${path}?reporter=name:A&${place}`);
      expect(daysOf(text)).toEqual([]);
      expect(toReadable(text)).toContain(words);
      const back = await browser.get(links(text)[side] ?? '');
      expect(daysOf(back.text)).toEqual(['2026-03-10', '2026-03-08']);
      const all = await browser.get(`${path}?${place}`);
      expect(toReadable(all.text)).toContain('No report is on this page.');
      expect(daysOf((await browser.get(links(all.text)[side] ?? '')).text)).toHaveLength(4);
    }
  });

  describe('searched and sorted', () => {
    /** Three reports: “Big Mail” with 10 messages and 3 failed, “small” with 2 and 2, “Ändere” with 5 and 0. */
    async function aSortable() {
      const { id, name } = await aDomain(api.db, accountId);
      const figures = [
        ['Big Mail', 7, 3],
        ['small', 0, 2],
        ['Ändere_%', 5, 0],
      ] as const;
      const reports = figures.map(([orgName, passed, failed], i) =>
        aReport({
          ...{
            domain: name,
            orgName,
            email: 'x@y.test',
            begin: `2026-03-0${i + 1}T00:00:00Z`,
            reportId: `id-${i}`,
          },
          ...{ totalMessages: passed + failed, alignedMessages: passed },
        }),
      );
      await receive(api.db, reports);
      return `/settings/domains/${id}/reports`;
    }
    const orgsOf = (text: string) =>
      [...text.matchAll(/rowheader" scope="row"><a [^>]*><bdi>([^<]+)</g)].map(([, org]) => org);
    const orgs = async (path: string) => orgsOf((await browser.get(path)).text);

    test.each([
      ['sort=messages', ['Big Mail', 'Ändere_%', 'small']],
      ['sort=messages&order=asc', ['small', 'Ändere_%', 'Big Mail']],
      ['sort=failed', ['Big Mail', 'small', 'Ändere_%']],
      ['sort=rate&order=asc', ['small', 'Big Mail', 'Ändere_%']],
      ['sort=begin&order=asc', ['Big Mail', 'small', 'Ändere_%']],
      ['sort=nothing', ['Ändere_%', 'small', 'Big Mail']],
      ['q=SMALL', ['small']],
      ['q=_%25', ['Ändere_%']],
      ['q=%5C', []],
      ['q=id-0', ['Big Mail']],
      ['q=x@y&sort=messages', ['Big Mail', 'Ändere_%', 'small']],
    ])('by %s', async (query, wanted) => {
      expect(await orgs(`${await aSortable()}?${query}`)).toEqual(wanted);
    });

    test('has heads that sort, which keep the range and the search', async () => {
      const path = await aSortable();
      const { text } = await browser.get(`${path}?days=90&q=a&sort=failed&order=desc`);
      expect(text).toMatch(
        /aria-sort="descending"><a\s+href="[^"]*q=a&amp;sort=failed&amp;order=asc&amp;days=90"/,
      );
      expect(text).toContain('name="sort" value="failed"');
    });

    test('is exported as it is shown, all its pages', async () => {
      const path = await aSortable();
      const { text } = await browser.get(`${path}?q=m&sort=messages`);
      const [, link = ''] = /href="([^"]+)" download/.exec(text) ?? [];
      const file = await browser.download(link.replaceAll('&amp;', '&'));
      const lines = file.text.trimEnd().split('\r\n');
      expect(lines).toHaveLength(3);
      expect(lines[1]).toMatch(
        /^Big Mail,[^,]*,2026-03-01T00:00:00Z,[^,]*,2,10,7,3,70,,[\da-f-]{36},$/,
      );
      expect(lines[2]).toMatch(/^small,/);
      const many = await aList(['2026-03-09', '2026-03-10'], Array(600).fill('A'));
      const all = await browser.download(`${many}/csv?reporter=name:A`);
      expect(all.text.trimEnd().split('\r\n')).toHaveLength(1201);
    });

    test('of another account is not found', async () => {
      const { id } = await aDomain(api.db, await aBareAccount(api.db));
      expect((await browser.get(`/settings/domains/${id}/reports/csv`)).status).toBe(404);
    });
  });

  test('takes a place that it never gave out for the first page', async () => {
    const path = await aList(['2026-03-10']);
    for (const place of ['x', '2026-03-10T00:00:00Z', '2026-03-10T00:00:00Z-9999999999999999'])
      expect(daysOf((await browser.get(`${path}?older=${place}`)).text)).toHaveLength(1);
    const before = await browser.get(`${path}?older=2012-01-01T00:00:00Z-1`);
    expect(daysOf(before.text)).toEqual([]);
    expect(before.status).toBe(200);
  });

  test('is where the domain’s page leads to', async () => {
    const path = await aList(['2026-03-10']);
    const { text } = await browser.get(path.replace('/reports', ''));
    expect(text).toContain(`<a href="${path}">All reports</a>`);
    expect(text).toMatch(new RegExp(`<a href="${path}/[0-9a-f-]{36}">`));
  });
});

describe('hostile texts of reports', () => {
  const EVIL = `"><script>alert(1)</script><img src=x onerror=alert(2)>\u202Eevil\u2066\u200F`;
  const inXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const hostile = (text: string) =>
    PLAIN.replace(
      /(<(?:org_name|email|extra_contact_info|report_id|selector|header_from|p)>)[^<]*/g,
      `$1${inXml(text)}`,
    )
      .replace(
        '</dkim>\n      <spf>',
        `<human_result>${inXml(text)}</human_result></dkim>\n      <spf>`,
      )
      .replace(
        '</policy_evaluated>',
        `<reason><type>${inXml(text)}</type><comment>${inXml(text)}</comment></reason></policy_evaluated>`,
      );

  test('are text: nothing runs, and no control of direction is left', async () => {
    const from = hostile(EVIL);
    const { path, domainId } = await aPlainReport({
      from,
      fileName: `x/${EVIL.replaceAll('/', '')}.xml`,
    });
    for (const page of [
      path,
      `/settings/domains/${domainId}/reports?from=2026-01-01&to=2026-01-31`,
    ]) {
      const { text, status } = await browser.get(page);
      expect(status).toBe(200);
      expect(text).toContain('&lt;script&gt;');
      expect(text).not.toMatch(/<script>|<img|\u202e|\u2066|\u200f/i);
    }
    expect((await browser.download(`${path}/original`)).text).toContain('\u202e');
  });

  test.each(['constructor', 'valueOf', '__proto__'])(
    'are text, also where “%s” is a property of every object',
    async (word) => {
      const from = PLAIN.replace(/(<(?:disposition|adkim|aspf|testing)>)[^<]*/g, `$1${word}`);
      const { path } = await aPlainReport({ from });
      const { text, status } = await browser.get(path);
      expect(status).toBe(200);
      expect(toReadable(text).toLowerCase()).toContain(`(adkim) ${word}`.toLowerCase());
    },
  );
});
