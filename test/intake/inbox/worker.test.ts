import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/domain/failure.ts';
import { Refusal } from '../../../src/domain/reports/refusal.ts';
import { localParser } from '../../../src/intake/parser/parser.ts';
import { createParserProcess } from '../../../src/intake/parser/parser-process.ts';
import { countRejections } from '../../../src/store/documents/rejections.ts';
import type { Db } from '../../../src/store/engine/database.ts';
import { claimMails, MAX_TRIES, toSeqs } from '../../../src/store/inbox/claims.ts';
import { postponeMails } from '../../../src/store/inbox/results.ts';
import { isOfDomain } from '../../../src/store/lists/heads.ts';
import { listDocuments } from '../../../src/store/reports/document-list.ts';
import { nameHolder } from '../../../src/store/work/holder.ts';
import { aBareAccount, aDomain } from '../../support/builders.ts';
import { caseCount } from '../../support/counts.ts';
import { failingDb } from '../../support/failing-db.ts';
import {
  aReportMail,
  aReportXml,
  deliverMail,
  listMailRows,
  makeDue,
} from '../../support/inbox.ts';
import { asProcess, aWorker, workAll } from '../../support/inbox-worker.ts';
import { base64, letter, mail, multipart, text } from '../../support/mail.ts';
import { listMiscounts } from '../../support/recount.ts';
import { aStore } from '../../support/store.ts';
import { aTlsReport } from '../../support/tls-report.ts';

const count = async (db: Db, table: 'report' | 'document' | 'rejection' | 'inbox_part') =>
  (await db.selectFrom(table).selectAll().execute()).length;

const FAILURE_REPORT = multipart(
  [
    text('This is a failure report.'),
    { headers: ['Content-Type: message/feedback-report'], body: 'Feedback-Type: auth-failure\r\n' },
    { headers: ['Content-Type: message/rfc822'], body: 'From: a@example.org\r\n\r\nSecret' },
  ],
  'report; report-type=feedback-report',
);

describe('a mail in the inbox', () => {
  test('is read: its report is stored, and its row says so', async () => {
    const { db } = await aStore();
    const domain = await aDomain(db, await aBareAccount(db), { name: 'example.com' });
    await deliverMail(db, { key: 'k', envelope: { sender: 'noreply@reporter.example' } });
    const { stored } = await workAll(db);
    expect(await listMailRows(db)).toMatchObject([
      { state: 'done', result: 'processed', counts: '{"stored":1}', reason: null, tries: 1 },
    ]);
    const reports = db.selectFrom('report').select('id').where(isOfDomain(domain.id));
    expect(await reports.execute()).toHaveLength(1);
    expect(await db.selectFrom('document').select('input_name').execute()).toEqual([
      { input_name: 'mail-1 smtp from noreply@reporter.example' },
    ]);
    expect(await count(db, 'inbox_part')).toBe(0);
    expect(stored).toEqual(['example.com']);
  });

  test('that is the same as another one is a mail of its own, with a duplicate', async () => {
    const { db } = await aStore();
    const bytes = aReportMail();
    await deliverMail(db, { bytes });
    await deliverMail(db, { bytes });
    await workAll(db);
    const rows = await listMailRows(db);
    expect(rows.map(({ counts }) => counts)).toEqual(['{"unclaimed":1}', '{"duplicate":1}']);
    expect(await count(db, 'report')).toBe(1);
  });

  test('with a TLS report is stored, as one with another report is', async () => {
    const { db } = await aStore();
    await deliverMail(db, { bytes: letter(base64(aTlsReport())) });
    await workAll(db);
    const done = { state: 'done', result: 'processed', counts: '{"unclaimed":1}' };
    expect(await listMailRows(db)).toMatchObject([done]);
    expect(await count(db, 'report')).toBe(1);
  });

  test.each([
    ['a failure report', FAILURE_REPORT, 'failure_report: about one message (ARF).', 0],
    ['an auto-reply', text('I am on holiday.'), 'There is no report in it.', 1],
  ])(
    'with %s is ignored by name, and no document is stored',
    async (_what, part, reason, parts) => {
      const { db } = await aStore();
      await deliverMail(db, { bytes: letter(part) });
      await workAll(db);
      expect(await listMailRows(db)).toMatchObject([
        { state: 'done', result: 'ignored', counts: '{"ignored":1}', reason },
      ]);
      expect([await count(db, 'document'), await count(db, 'rejection')]).toEqual([0, 0]);
      // What a later parser may understand stays for a time.
      expect(await count(db, 'inbox_part')).toBe(parts);
    },
  );

  test('of other people is ignored without a trace beside its row, also when it is large', async () => {
    const { db } = await aStore();
    await deliverMail(db, { bytes: letter(text('x'.repeat(3_000_000))) });
    await workAll(db);
    expect(await listMailRows(db)).toMatchObject([{ result: 'ignored' }]);
    expect(await count(db, 'document')).toBe(0);
  });

  test('that looks like a report and has none is told, and stays where it is', async () => {
    const { db } = await aStore();
    await deliverMail(db, { bytes: mail(multipart([text('Hello'), base64('%PDF-1.7')])) });
    await workAll(db);
    const reason =
      'It looks like a report. This is neither XML nor JSON nor anything that could hold it.';
    expect(await listMailRows(db)).toMatchObject([
      { result: 'ignored', counts: '{"rejected":1}', reason },
    ]);
    expect(await listDocuments(db, { limit: 9 })).toMatchObject([{ reason: 'none_found' }]);
    expect(await countRejections(db)).toEqual([['none_found', 1]]);
    expect(await count(db, 'inbox_part')).toBe(1);
  });

  test('with a broken report is rejected, and the next one is read', async () => {
    const { db } = await aStore();
    await deliverMail(db, { bytes: mail(base64(aReportXml().slice(0, 500))) });
    await deliverMail(db);
    await workAll(db);
    const rows = await listMailRows(db);
    expect(rows.map(({ result }) => result)).toEqual(['rejected', 'processed']);
    expect(rows[0]?.reason).toMatch(/./);
    expect([await count(db, 'rejection'), await count(db, 'document')]).toEqual([1, 2]);
  });

  test('whose reading process ends is read by a new one, like the mail after it', async () => {
    const { db } = await aStore();
    const parser = createParserProcess();
    await deliverMail(db);
    await deliverMail(db);
    let kills = 0;
    const killing = asProcess({
      parse: (bytes, options) => {
        const found = parser.parse(bytes, options);
        return (async function* () {
          if (kills++ === 0 && parser.pid !== undefined) process.kill(parser.pid, 'SIGKILL');
          yield* found;
        })();
      },
    });
    await workAll(db, { parser: { ...killing, close: () => parser.close() } });
    expect((await listMailRows(db)).map(({ result }) => result)).toEqual([
      'processed',
      'processed',
    ]);
    expect(await count(db, 'report')).toBe(2);
  });
});

describe('a fault of our own', () => {
  test('is tried again, and after ten tries the mail is stuck with the reason', async () => {
    const { db } = await aStore();
    await deliverMail(db);
    let reads = 0;
    const parser = asProcess({
      // biome-ignore lint/correctness/useYield: it fails before it finds anything.
      async *parse() {
        reads += 1;
        throw new Failure('unavailable', 'The process that reads reports does not start: ENOMEM.');
      },
    });
    const worker = aWorker(db, { parser });
    while ((await listMailRows(db))[0]?.state !== 'stuck') {
      await makeDue(db);
      await sleep(5);
    }
    await worker.stop();
    expect(reads).toBe(MAX_TRIES);
    expect(worker.errors).toHaveLength(MAX_TRIES);
    expect(await listMailRows(db)).toMatchObject([
      { last_error: 'The process that reads reports does not start: ENOMEM.', tries: 10 },
    ]);
    expect(await count(db, 'inbox_part')).toBe(1);
  });

  test('with one of several mails leaves those before it done', async () => {
    const { db } = await aStore();
    for (const id of ['one', 'two', 'three']) await deliverMail(db, { bytes: aReportMail(id) });
    let begun = 0;
    const parser = asProcess({
      async *parse(bytes, options) {
        begun += 1;
        if (begun === 3) throw new Error('out of memory');
        yield* localParser.parse(bytes, options);
      },
    });
    const worker = aWorker(db, { parser });
    const isPast = async () => (await listMailRows(db)).every(({ tries }) => tries > 0);
    while (!(await isPast()) || (await listMailRows(db)).some(({ state }) => state !== 'done')) {
      await makeDue(db);
      await sleep(5);
    }
    await worker.stop();
    expect(await count(db, 'report')).toBe(3);
    expect(await listMiscounts(db)).toEqual({});
  });

  test('of time says nothing of a mail at first: it is read again after all others, and never a third time', async () => {
    const { db } = await aStore();
    const ids = ['hostile', 'slow', 'one', 'two'];
    for (const id of ids) await deliverMail(db, { bytes: aReportMail(id) });
    const read: string[] = [];
    const parser = asProcess({
      async *parse(bytes, options) {
        const documents = await Array.fromAsync(localParser.parse(bytes, options));
        const [id = ''] = documents.flatMap((one) =>
          one.kind === 'report' ? (one.report.metadata.reportId ?? '') : [],
        );
        const isLate = id === 'hostile' || (id === 'slow' && !read.includes('slow'));
        read.push(id);
        const refusal = new Refusal('unreadable', 'Reading it was given up after 10 s.');
        if (isLate) yield { kind: 'rejected', member: [], path: '', refusal };
        else yield* documents;
      },
    });
    const { errors } = await workAll(db, { parser });
    expect(read).toEqual([...ids, 'hostile', 'slow']);
    expect(errors).toEqual([]);
    expect((await listMailRows(db)).map(({ result, tries }) => [result, tries])).toEqual([
      ['rejected', 2],
      ['processed', 2],
      ['processed', 1],
      ['processed', 1],
    ]);
    const rejections = await db.selectFrom('rejection').select(['reason', 'message']).execute();
    expect(rejections).toEqual([
      { reason: 'unreadable', message: 'Reading it was given up after 10 s.' },
    ]);
  });

  test('that keeps the bytes of one mail from being loaded leaves the others of its batch to be read', async () => {
    const { db } = await aStore();
    for (const id of ['one', 'two', 'three']) await deliverMail(db, { bytes: aReportMail(id) });
    const second = (await listMailRows(db))[1]?.id ?? '';
    await db.write((tx) => tx.deleteFrom('inbox_part').where('mail_id', '=', second).execute());
    const worker = aWorker(db);
    while (worker.errors.length === 0) await sleep(5);
    await worker.stop();
    const rows = await listMailRows(db);
    expect(rows.map(({ state }) => state)).toEqual(['done', 'waiting', 'done']);
    expect(rows[1]?.last_error).toMatch(/bytes of mail-2 are not in the database/);
  });

  test('at any step of the worker loses no mail and counts no report twice', async () => {
    let isDone = false;
    const every = caseCount({ few: 5, full: 1 });
    for (let after = randomInt(every); !isDone; after += every) {
      const { db } = await aStore();
      await aDomain(db, await aBareAccount(db), { name: 'example.com' });
      await deliverMail(db, { bytes: aReportMail('first') });
      await deliverMail(db, { bytes: aReportMail('second') });
      await deliverMail(db, { bytes: mail(text('Hello')) });
      const failing = failingDb(db, after);
      const worker = aWorker(failing.db);
      const isRead = async () => (await listMailRows(db)).every(({ state }) => state === 'done');
      while (worker.errors.length === 0 && !(await isRead())) await sleep(1);
      await worker.stop();
      isDone = worker.errors.length === 0;
      // The process is replaced by one whose database works.
      await makeDue(db);
      const { stored } = await workAll(db);
      const rows = await listMailRows(db);
      expect(rows.map(({ result }) => result)).toEqual(['processed', 'processed', 'ignored']);
      expect(await count(db, 'report')).toBe(2);
      expect(await listMiscounts(db)).toEqual({});
      expect([...worker.stored, ...stored]).toContain('example.com');
      expect(after).toBeLessThan(200);
    }
  });
});

test.runIf(process.platform === 'linux')(
  'mails that a killed process had claimed waited for two minutes: they are read at once, also beside others that wait',
  async () => {
    const { db } = await aStore();
    await aDomain(db, await aBareAccount(db), { name: 'example.com' });
    for (let i = 0; i < 4; i += 1) await deliverMail(db);
    const child = spawn('sleep', ['600'], { stdio: 'ignore' });
    await once(child, 'spawn');
    const holder = { id: nameHolder(child.pid), claimMs: 3_600_000 };
    await claimMails(db, { holder, mails: 2, bytes: 1_000_000 });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await workAll(db);
    const rows = await listMailRows(db);
    expect(rows.map(({ result }) => result)).toEqual(Array(4).fill('processed'));
  },
);

describe('a worker that is stopped', () => {
  test('ends with the mail that it reads, and gives the others back', async () => {
    const { db } = await aStore();
    for (let i = 0; i < 3; i += 1)
      await deliverMail(db, { bytes: Buffer.concat([aReportMail(), Buffer.alloc(2_000_000, 32)]) });
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const parser = asProcess({
      async *parse(bytes, options) {
        begun.resolve();
        await goOn.promise;
        yield* localParser.parse(bytes, options);
      },
    });
    const worker = aWorker(db, { parser });
    await begun.promise;
    const stopped = worker.stop();
    goOn.resolve();
    await stopped;
    const states = (await listMailRows(db)).map(({ state, tries }) => `${state} ${tries}`);
    expect(states[0]).toBe('done 1');
    expect(states.at(-1)).toBe('waiting 0');
    expect((await listMailRows(db)).every(({ claimed_by }) => claimed_by === null)).toBe(true);
  });

  test('ends the reading of a costly mail, which is read by the next one', async () => {
    const { db } = await aStore();
    await deliverMail(db, { bytes: costly(4e6, 'costly') });
    const { mails } = await claimMails(db, { holder: HOLDER, mails: 1, bytes: 1 });
    await postponeMails(db, HOLDER, toSeqs(mails));
    const parser = createParserProcess();
    const worker = aWorker(db, { parser, stopMs: 0 });
    while (parser.pid === undefined) await sleep(5);
    await worker.stop();
    expect(worker.errors).toEqual([]);
    expect(await listMailRows(db)).toMatchObject([
      { state: 'waiting', claimed_by: null, result: null },
    ]);
    expect([await count(db, 'document'), await count(db, 'rejection')]).toEqual([0, 0]);
  });

  test('is woken by a mail, whenever it comes', async () => {
    const { db } = await aStore();
    const worker = aWorker(db, { pollMs: 3_600_000 });
    for (let i = 1; i <= 5; i += 1) {
      await sleep(i);
      await deliverMail(db);
      worker.wake();
      while ((await count(db, 'report')) < i) await sleep(1);
    }
    await worker.stop();
  });
});

/** A report in about a kilobyte. */
const costly = (sections: number, id: string) => {
  const padded = aReportXml(id).replace(
    '</feedback>',
    `${'<![CDATA[]]>'.repeat(sections)}</feedback>`,
  );
  return mail(base64(gzipSync(gzipSync(padded))));
};

const HOLDER = { id: 'a', claimMs: 60_000 };

describe('costly mails', () => {
  test('of many networks are given up early, and read to their end after an honest one that came last', async () => {
    const { db } = await aStore();
    const from = (remoteAddress: string) => ({ envelope: { remoteAddress } });
    for (const i of [1, 2, 3])
      await deliverMail(db, { bytes: costly(1e5, `costly ${i}`), ...from(`203.0.${i}.1`) });
    await deliverMail(db, { bytes: costly(4e6, 'too costly'), ...from('203.0.4.1') });
    await deliverMail(db, from('198.51.100.1'));
    const order: boolean[] = [];
    const parser = asProcess({
      parse: (bytes, options) => {
        order.push(options.isBrief === true);
        return localParser.parse(bytes, options);
      },
    });
    const { errors } = await workAll(db, { parser });
    expect(errors).toEqual([]);
    expect(order).toEqual([true, true, true, true, true, false, false, false, false]);
    const rows = await listMailRows(db);
    expect(rows.map(({ result, tries }) => `${result} ${tries}`)).toEqual([
      ...Array.from({ length: 3 }, () => 'processed 2'),
      ...['rejected 2', 'processed 1'],
    ]);
    expect(await count(db, 'report')).toBe(4);
    expect(await count(db, 'rejection')).toBe(1);
  });

  test('count as many of their sender, whose next ones come behind', async () => {
    const { db } = await aStore();
    const [hostile, honest] = ['203.0.113.1', '198.51.100.1'];
    const deliverFrom = (remoteAddress: string, bytes = aReportMail()) =>
      deliverMail(db, { bytes, envelope: { remoteAddress } });
    await deliverFrom(hostile, costly(1e5, 'costly'));
    const claim = async (mails: number) =>
      (await claimMails(db, { holder: HOLDER, mails, bytes: 10_000 })).mails;
    const mails = await claim(1);
    await postponeMails(db, HOLDER, toSeqs(mails));
    for (const sender of [hostile, honest, honest]) await deliverFrom(sender);
    const claimed = await claim(4);
    expect(claimed.map(({ seq }) => seq)).toEqual([3, 4]);
    expect(await claim(4)).toMatchObject([{ seq: 1, tries: 2 }]);
  });
});
