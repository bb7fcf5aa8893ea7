import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { listAudit } from '../../src/store/events/audit.ts';
import { exportAccount } from '../../src/store/leaving/account-export.ts';
import { removeReport } from '../../src/store/reports/corrections.ts';
import { type Api, serveApi, startApi } from '../support/api.ts';
import { aBareAccount, aDomain, NOW } from '../support/builders.ts';
import { aReportMail, aReportXml, listMailRows } from '../support/inbox.ts';
import { workAll } from '../support/inbox-worker.ts';
import { aSignedIn, type Browser, toReadable } from '../support/visitor.ts';
import { zip } from '../support/zip.ts';

const ACCOUNT = '/settings/account';
const MIB = 1024 * 1024;

type Person = { readonly email: string; readonly browser: Browser };

let api: Api;
let accountId: string;
let owner: Person;
let member: Person;
let domain: { readonly id: string; readonly name: string };
let count = 0;

beforeAll(async () => {
  api = await startApi({ uploads: 'on' });
  return api.close;
});
beforeEach(async () => {
  accountId = await aBareAccount(api.db);
  owner = await aSignedIn(api, accountId);
  member = await aSignedIn(api, accountId);
  domain = await aDomain(api.db, accountId, { name: `own-${++count}.example` });
});

/** Uploads, has all that waits read, and returns the lines of the page. */
async function upload(files: Parameters<Browser['upload']>[0]) {
  const { browser } = member;
  const { status, headers, text } = await browser.upload(files);
  expect([status, text]).toEqual([303, expect.any(String)]);
  await workAll(api.db);
  return await readPage(headers['location'] ?? '', browser);
}

async function readPage(path: string, browser: Browser) {
  const { status, text } = await browser.get(path);
  expect(status).toBe(200);
  const rows = [...text.matchAll(/<tr role="row">(.*?)<\/tr>/gs)].slice(1);
  const lines = rows.map(([row]) => toReadable(row).replaceAll('&gt;', '>').trim());
  return { path, text, lines };
}

const xml = (id: string, name = domain.name) => aReportXml(id, name);
const findReports = async (name = domain.name) =>
  await api.db
    .selectFrom('report')
    .innerJoin('domain', 'domain.seq', 'report.domain_seq')
    .select(['report.id', 'report.doubt'])
    .where('name', '=', name)
    .execute();
const countMails = async () => (await listMailRows(api.db)).length;

describe('the account’s page', () => {
  test('has the form for owners and members, unless the operator turns it off', async () => {
    for (const { browser } of [owner, member])
      expect((await browser.get(ACCOUNT)).text).toContain('enctype="multipart/form-data"');
    const off = await serveApi({ uploads: 'off' });
    const { browser } = await aSignedIn(off, await aBareAccount(off.db));
    expect((await browser.get(ACCOUNT)).text).not.toContain('multipart');
    expect((await browser.upload({ 'a.xml': aReportXml() })).status).toBe(404);
    expect(await listMailRows(off.db)).toEqual([]);
  });
});

describe('an upload', () => {
  test('is stored, with a link to each report, whatever it came in', async () => {
    const inner = zip([{ name: 'deep.eml', content: aReportMail('deep', domain.name) }]);
    const box = `From a@b.example Thu Jan 1\n${aReportMail('box-1', domain.name)}\n\nFrom a@b.example Thu Jan 1\n${aReportMail('box-2', domain.name)}\n`;
    const { lines, text } = await upload({
      'a.xml': xml('a'),
      'b.xml.gz': gzipSync(xml('b')),
      'c.zip': zip([{ name: 'c.xml', content: xml('c') }]),
      'd.eml': aReportMail('d', domain.name),
      'mails.zip': inner,
      'all.mbox': box,
    });
    const stored = `Stored: a report of ${domain.name}`;
    expect(lines).toEqual([
      `a.xml ${stored}`,
      `b.xml.gz ${stored}`,
      expect.stringMatching(/^c\.zip > c\.xml Stored: /),
      expect.stringMatching(/^d\.eml > report\.bin Stored: /),
      expect.stringMatching(/^mails\.zip > deep\.eml > report\.bin Stored: /),
      expect.stringMatching(/^all\.mbox > message 1 > report\.bin Stored: /),
      expect.stringMatching(/^all\.mbox > message 2 > report\.bin Stored: /),
    ]);
    const reports = await findReports();
    expect(reports).toHaveLength(7);
    for (const { id, doubt } of reports) {
      const path = `/settings/domains/${domain.id}/reports/${id}`;
      expect(text).toContain(`href="${path}"`);
      expect(doubt).toBe('unproven');
      const page = toReadable((await member.browser.get(path)).text);
      expect(page).toContain('A file that was uploaded');
    }
  });

  test('says what is a duplicate, a conflict, removed, broken, or no report', async () => {
    await upload({ 'a.xml': xml('same'), 'gone.xml': xml('gone') });
    const { text } = await upload({ 'gone.xml': xml('gone') });
    const gone = /reports\/([\w-]{36})/.exec(text)?.[1] ?? '';
    await removeReport(api.db, gone, NOW);
    const { lines } = await upload({
      'again.xml': xml('same'),
      'other.xml': xml('same').replace(/<count>\d+/, '<count>77'),
      'gone.xml': xml('gone'),
      'cut.xml': xml('cut').slice(0, -30),
      'photo.png': '\x89PNG',
    });
    expect(lines).toEqual([
      `again.xml Stored already: a report of ${domain.name}`,
      `other.xml Not counted, because another content of it is stored: a report of ${domain.name}`,
      `gone.xml Not stored: the operator has removed this report of ${domain.name}`,
      expect.stringMatching(/^cut\.xml Not stored: /),
      'photo.png Not stored: This is neither XML nor JSON nor anything that could hold it.',
    ]);
    const none = await upload({ 'a.txt': 'Hello', 'b.txt': 'Hello' });
    expect(none.lines).toEqual(['Not stored: There is no report in it.']);
  });

  test('says the same of a domain of another account as of one that nobody has', async () => {
    const names = ['theirs', 'nobodys'].map((name) => `${name}-${count}.example`);
    const [theirs = '', nobodys = ''] = names;
    const other = await aBareAccount(api.db);
    await aDomain(api.db, other, { name: theirs });
    const pages: string[][] = [];
    const twice = [`twice-${theirs}`, `twice-${nobodys}`];
    for (const [i, name] of [theirs, nobodys].entries()) {
      const first = await upload({ 'a.xml': xml(twice[i] ?? '', name) });
      const again = await upload({
        'a.xml': xml(twice[i] ?? '', name),
        'b.xml': xml(twice[i] ?? '', name).replace(/<count>\d+/, '<count>77'),
      });
      expect(first.text).not.toMatch(/settings\/domains/);
      pages.push([...first.lines, ...again.lines].map((line) => line.replaceAll(name, 'NAME')));
    }
    expect(pages[0]).toEqual(pages[1]);
    expect(new Set(pages[0])).toEqual(
      new Set(
        ['a', 'b'].map((n) => `${n}.xml A report of NAME, which is no domain of this account`),
      ),
    );
    expect(await findReports(theirs)).toHaveLength(1);
    const exported: string[] = [];
    await exportAccount(api.store.reader, accountId, (line) => exported.push(line));
    const mails = exported.filter((line) => line.includes('"inbox_mail"'));
    expect(mails).toHaveLength(4);
    expect(mails.join()).not.toMatch(/"unclaimed|"stored|duplicate/);
  });

  test('shows its outcome to its account alone, and says while it waits', async () => {
    const { headers } = await member.browser.upload({ 'a.xml': xml('waits') });
    const path = headers['location'] ?? '';
    const waiting = await owner.browser.get(path);
    expect(waiting.headers['refresh']).toBe('5');
    expect(toReadable(waiting.text)).toContain('wait to be read');
    const stranger = await aSignedIn(api, await aBareAccount(api.db));
    expect((await stranger.browser.get(path)).status).toBe(404);
    const done = owner.browser.get(path);
    await workAll(api.db);
    expect((await done).text).toContain(domain.name);
    expect((await owner.browser.get(path)).headers['refresh']).toBeUndefined();
  });

  test('is in the audit, and two at once are both stored', async () => {
    const [one, two] = await Promise.all([
      owner.browser.upload({ 'a.xml': xml('one') }),
      member.browser.upload({ 'b.xml': xml('two') }),
    ]);
    expect([one.status, two.status]).toEqual([303, 303]);
    await workAll(api.db);
    expect(await findReports()).toHaveLength(2);
    const audit = await listAudit(api.db, accountId, { limit: 9, kind: 'report' });
    expect(audit.map(({ action, actor }) => [action, actor]).sort()).toEqual(
      [owner, member].map(({ email }) => ['reports_uploaded', email]).sort(),
    );
  });

  test('of a paused domain is stored, too', async () => {
    await updateDomainStatus(api.db, domain.id, 'paused');
    const { lines } = await upload({ 'a.xml': xml('paused') });
    expect(lines).toEqual([`a.xml Stored: a report of ${domain.name}`]);
  });

  test('with a bomb gives up the bomb, and the server answers on', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * MIB, ' '));
    const { lines } = await upload({ 'a.xml': xml('before'), 'bomb.gz': bomb });
    expect(lines[0]).toBe(`a.xml Stored: a report of ${domain.name}`);
    expect(lines[1]).toMatch(/^bomb\.gz Not stored: /);
  });
});

describe('an upload is refused, and nothing of it stays', () => {
  const parts = async () => (await api.db.selectFrom('inbox_part').selectAll().execute()).length;
  const expectNone = async (status: number, send: () => Promise<{ status: number }>) => {
    const before = [await countMails(), await parts()];
    expect((await send()).status).toBe(status);
    await expect.poll(async () => [await countMails(), await parts()]).toEqual(before);
  };

  test('when it is too large, by its header or while it comes', async () => {
    const large = { 'a.xml': Buffer.alloc(25 * MIB) };
    await expectNone(409, () => member.browser.upload(large));
    const type = 'multipart/form-data; boundary=x';
    await expectNone(409, () => sendInPieces(type, 26));
  });

  test('without the token of the session, before it is read', async () => {
    const { browser } = member;
    await expectNone(403, () => browser.upload({ 'a.xml': xml('x') }, { token: 'forged' }));
    await expectNone(403, () =>
      browser.upload({ 'a.xml': xml('x') }, { token: owner.browser.formToken }),
    );
  });

  test('when nobody is signed in', async () => {
    const nobody = await aSignedIn(api, accountId);
    nobody.browser.cookie = '';
    await expectNone(303, () => nobody.browser.upload({ 'a.xml': xml('x') }));
  });

  test('when it is no form with files', async () => {
    const { browser } = member;
    await expectNone(422, () =>
      browser.upload('a=b', { type: 'application/x-www-form-urlencoded' }),
    );
    await expectNone(422, () => browser.upload(xml('x'), { type: 'text/xml' }));
  });

  test('when its connection ends before it does', async () => {
    const before = [await countMails(), await parts()];
    const socket = connect(api.port, '127.0.0.1');
    socket.write(toHead('Content-Length: 2000000\r\n', 'multipart/form-data; boundary=x'));
    socket.write(Buffer.alloc(600_000));
    await expect.poll(parts).toBeGreaterThan(before[1] ?? 0);
    socket.destroy();
    await expect.poll(async () => [await countMails(), await parts()]).toEqual(before);
    await member.browser.get(ACCOUNT);
    expect(api.logged.filter(({ msg }) => msg === 'unexpected error')).toEqual([]);
  });

  test('after thirty of a person', async () => {
    const person = await aSignedIn(api, accountId);
    for (let i = 0; i < 30; i += 1) {
      const sent = person.browser.upload('x', { type: 'text/plain' });
      expect((await sent).status).toBe(422);
    }
    await expectNone(429, () => person.browser.upload({ 'a.xml': xml('x') }));
  });

  const toHead = (length: string, type: string) =>
    `POST ${ACCOUNT}/uploads?form_token=${member.browser.formToken} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n` +
    `Sec-Fetch-Site: same-origin\r\nCookie: ${member.browser.cookie}\r\nContent-Type: ${type}\r\n${length}\r\n`;

  /** Chunked: no header says how long it is. */
  async function sendInPieces(type: string, mebibytes: number) {
    const socket = connect(api.port, '127.0.0.1');
    const answered = once(socket, 'data');
    socket.on('error', () => undefined);
    socket.write(toHead('Transfer-Encoding: chunked\r\n', type));
    for (let i = 0; i < mebibytes; i += 1)
      socket.write(
        Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MIB), Buffer.from('\r\n')]),
      );
    socket.write('0\r\n\r\n');
    const [answer] = await answered;
    socket.destroy();
    return { status: Number(String(answer).slice(9, 12)) };
  }
});

describe('where the operator trusts uploads', () => {
  test('they are believed as files are, about domains of the account alone', async () => {
    const trusting = await serveApi({ uploads: 'trusted' });
    const { db } = trusting;
    const own = await aBareAccount(db);
    await aDomain(db, own, { name: 'own.example' });
    await aDomain(db, await aBareAccount(db), { name: 'theirs.example' });
    const { browser } = await aSignedIn(trusting, own);
    const names = ['own.example', 'theirs.example', 'nobodys.example'];
    const files = names.map((name, i) => [name, aReportXml(`trusted-${i}`, name)]);
    expect((await browser.upload(Object.fromEntries(files))).status).toBe(303);
    await workAll(db);
    const rows = await db
      .selectFrom('report')
      .innerJoin('domain', 'domain.seq', 'report.domain_seq')
      .select(['name', 'doubt'])
      .orderBy('name')
      .execute();
    expect(rows).toEqual([
      { name: 'nobodys.example', doubt: 'unproven' },
      { name: 'own.example', doubt: null },
      { name: 'theirs.example', doubt: 'unproven' },
    ]);
  });
});
