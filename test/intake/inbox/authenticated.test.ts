import { describe, expect, test } from 'vitest';
import type { Envelope } from '../../../src/domain/incoming.ts';
import { localParser } from '../../../src/intake/parser/parser.ts';
import { createVerifier } from '../../../src/intake/verification/verifier.ts';
import type { Db } from '../../../src/store/engine/database.ts';
import { aBareAccount, aDomain, NOW } from '../../support/builders.ts';
import { aReportXml, deliverMail, listMailRows, makeDue, toWords } from '../../support/inbox.ts';
import { aWorker, workAll } from '../../support/inbox-worker.ts';
import { base64, mail, multipart } from '../../support/mail.ts';
import { aKey, SELECTOR, signMail } from '../../support/signed-mail.ts';
import { aStore } from '../../support/store.ts';

const KEY = aKey();

interface Given {
  readonly org?: string;
  readonly email?: string;
  /** The domain of From and of the signature. */
  readonly domain?: string;
}

/** A signed mail with a report that names these. */
async function aSigned({ org, email, domain }: Required<Given>): Promise<Buffer> {
  const xml = aReportXml()
    .replace(/<org_name>[^<]*/, `<org_name>${org}`)
    .replace(/<email>[^<]*/, `<email>${email}`);
  const whole = mail(base64(xml)).toString('latin1');
  return await signMail(
    Buffer.from(whole.replace(/^From: .*$/m, `From: noreply@${domain}`), 'latin1'),
    KEY,
    { domain },
  );
}

function aVerifier(answers: { isDown: boolean } = { isDown: false }) {
  return createVerifier({
    ask: async (name) => {
      if (answers.isDown) throw Object.assign(new Error('down'), { code: 'ESERVFAIL' });
      if (name.startsWith(`${SELECTOR}._domainkey.`)) return [[KEY.record]];
      throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
    },
    ...{ check: localParser.check, trustedServers: [], trustedNetworks: [] },
  });
}

async function readSender(db: Db, bytes: Buffer, envelope: Envelope = {}) {
  await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  await deliverMail(db, { bytes, envelope });
  await workAll(db, { verify: aVerifier() });
  const rows = await db.selectFrom('report').select(['authenticated', 'doubt']).execute();
  return rows.map(toWords);
}

describe('the sender of a report', () => {
  test.each<[string, Required<Given>, string]>([
    [
      'is the reporter when the signature is of the domain of the report’s e-mail',
      { org: 'A reporter', email: 'dmarc@reporter.example', domain: 'mail.reporter.example' },
      'new reporter.example',
    ],
    [
      'is the reporter when it is of the domain that the organisation is called',
      { org: 'reporter.example', email: 'dmarc@other.example', domain: 'reporter.example' },
      'new reporter.example',
    ],
    [
      'is who signed, whatever contact the report names',
      { org: 'A reporter', email: 'somebody@gmail.com', domain: 'reporter.example' },
      'new reporter.example',
    ],
    [
      'is nobody when the report has the name of a big reporter and a domain of its own',
      { org: 'google.com', email: 'noreply@evil.example', domain: 'evil.example' },
      'unproven',
    ],
    [
      'is nobody when a customer of the reporter signs',
      { org: 'Yahoo', email: 'dmarchelp@yahooinc.com', domain: 'yahoo.com' },
      'unproven',
    ],
    [
      'is another one when a stranger below the same private suffix signs',
      { org: 'A reporter', email: 'a@reporter.github.io', domain: 'stranger.github.io' },
      'new stranger.github.io',
    ],
    [
      'is the one of two names below a private suffix that signs',
      { org: 'A reporter', email: 'a@reporter.github.io', domain: 'reporter.github.io' },
      'new reporter.github.io',
    ],
    [
      'is a big reporter when its own servers sign',
      { org: 'Yahoo', email: 'dmarchelp@yahooinc.com', domain: 'dmarc.yahoo.com' },
      'yahoo.com',
    ],
  ])('%s', async (_what, given, authenticated) => {
    const { db } = await aStore();
    expect(await readSender(db, await aSigned(given))).toEqual([authenticated]);
  });

  test('is not known of a file', async () => {
    const { db } = await aStore();
    expect(await readSender(db, Buffer.from(aReportXml()), { kind: 'file' })).toEqual(['']);
  });
});

test('a mail may have a thousand reports, and a file as many as it has', async () => {
  const reports = Array.from({ length: 1_003 }, () => base64(aReportXml()));
  for (const [kind, stored] of [[undefined, 1_000] as const, ['file', 1_003] as const]) {
    const { db } = await aStore();
    await deliverMail(db, { bytes: mail(multipart(reports)), envelope: { kind } });
    await workAll(db, { verify: aVerifier() });
    const [row] = await listMailRows(db);
    expect(row).toMatchObject({ result: 'processed' });
    // What was stored before it was given up for the first time is a duplicate when it is read again.
    const { unclaimed, duplicate = 0 } = JSON.parse(row?.counts ?? '');
    expect(unclaimed + duplicate).toBe(stored);
    expect(row?.reason ?? '').toMatch(kind === undefined ? /A mail may have 1000 reports/ : /^$/);
  }
});

const GIVEN = { org: 'A', email: 'a@reporter.example', domain: 'reporter.example' };

test('a mail for which DNS has no answer waits, others do not, and it is read when DNS answers', async () => {
  const { db } = await aStore();
  const answers = { isDown: true };
  const now = () => new Date(NOW);
  await deliverMail(db, { bytes: await aSigned(GIVEN), envelope: {} });
  await deliverMail(db, { envelope: {} });
  const worker = aWorker(db, { verify: aVerifier(answers), now });
  while ((await listMailRows(db)).at(1)?.state !== 'done') await new Promise(setImmediate);
  await worker.stop();
  expect(await listMailRows(db)).toMatchObject([
    { state: 'waiting', tries: 0, claimed_by: null },
    {},
  ]);
  answers.isDown = false;
  await makeDue(db);
  await workAll(db, { verify: aVerifier(answers), now });
  const rows = await db
    .selectFrom('report')
    .select(['authenticated', 'doubt'])
    .orderBy('seq')
    .execute();
  expect(rows.map(toWords)).toEqual(['unproven', 'new reporter.example']);
});

test('a mail for which DNS had no answer for half an hour is read without', async () => {
  const { db } = await aStore();
  await deliverMail(db, { bytes: await aSigned(GIVEN), envelope: {} });
  const now = () => new Date(Date.parse(NOW) + 31 * 60_000);
  await workAll(db, { verify: aVerifier({ isDown: true }), now });
  const rows = await db.selectFrom('report').select(['authenticated', 'doubt']).execute();
  expect(rows.map(toWords)).toEqual(['unproven']);
});
