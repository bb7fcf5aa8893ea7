import arc from 'mailauth/lib/arc/index.js';
import { expect, test } from 'vitest';
import type { Envelope } from '../../../src/domain/incoming.ts';
import { localParser } from '../../../src/intake/parser/parser.ts';
import { createVerifier } from '../../../src/intake/verification/verifier.ts';
import { aBareAccount, aDomain } from '../../support/builders.ts';
import { aReportXml, deliverMail, toWords } from '../../support/inbox.ts';
import { workAll } from '../../support/inbox-worker.ts';
import { base64, multipart, text } from '../../support/mail.ts';
import { aKey, SELECTOR, signMail } from '../../support/signed-mail.ts';
import { aStore } from '../../support/store.ts';
import { aTlsReport } from '../../support/tls-report.ts';

const KEY = aKey();
const DOMAIN = 'reporter.example';
const GOOGLE = 'noreply-smtp-tls-reporting@google.com';

interface Sent {
  readonly from?: string;
  readonly contact?: string | null;
  readonly org?: string;
  readonly submitter?: string;
  readonly type?: string;
  readonly parts?: readonly Parameters<typeof base64>[0][];
}

/** A mail with a TLS report, as reporters send it. */
function aTlsMail({ from = `tls@${DOMAIN}`, submitter, type = 'tlsrpt', ...given }: Sent = {}) {
  const { contact = `tls@${DOMAIN}`, org = 'A reporter', parts = [] } = given;
  const report = aTlsReport({ 'contact-info': contact, 'organization-name': org });
  const name = 'Content-Disposition: attachment; filename="a.json"';
  const json = base64(report, [`Content-Type: application/${type}+json`, name]);
  const body = multipart(
    [text('A report.'), json, ...parts.map((one) => base64(one))],
    `report; report-type=${type}`,
  );
  const named = submitter === undefined ? [] : [`TLS-Report-Submitter: ${submitter}`];
  const fields = [`From: ${from}`, 'To: rua@example.com', ...named, ...body.headers];
  return Buffer.from([...fields, '', body.body].join('\r\n'), 'latin1');
}

const sign = (mail: Buffer, options: Parameters<typeof signMail>[2] = {}) =>
  signMail(mail, KEY, options);

interface Read {
  readonly envelope?: Envelope;
  /** The services of all keys. */
  readonly services?: string;
  readonly trustedServers?: readonly string[];
}

/** What is stored of the senders, by the reports' kinds. */
async function readSenders(bytes: Buffer, { envelope = {}, services, trustedServers = [] }: Read) {
  const { db } = await aStore();
  await aDomain(db, await aBareAccount(db), { name: 'example.com' });
  await deliverMail(db, { bytes, envelope });
  const record = KEY.record.replace('; p=', services ? `; s=${services}; p=` : '; p=');
  const ask = async (name: string) => {
    if (name.startsWith(`${SELECTOR}._domainkey.`)) return [[record]];
    if (name === DOMAIN) return [['v=spf1 ip4:192.0.2.7 -all']];
    throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
  };
  const given = { ask, check: localParser.check, trustedServers, trustedNetworks: [] };
  await workAll(db, { verify: createVerifier(given) });
  const rows = await db.selectFrom('report').select(['kind', 'authenticated', 'doubt']).execute();
  return Object.fromEntries(rows.map((row) => [row.kind ?? 'dmarc', toWords(row)]));
}

const CLIENT = { remoteAddress: '192.0.2.7', sender: `a@${DOMAIN}` };
const NEW = `new ${DOMAIN}`;
const PASSED = `dkim=pass header.d=${DOMAIN}`;
const TRUSTED = { trustedServers: ['mx.operator.example', 'forwarder.example'] };
const withResults = (results: string, mail: Buffer) =>
  Buffer.concat([Buffer.from(`Authentication-Results: mx.operator.example; ${results}\r\n`), mail]);

async function sealed(results: string): Promise<Buffer> {
  const seal = await arc.sealMessage(aTlsMail(), {
    ...{ signingDomain: 'forwarder.example', selector: SELECTOR, cv: 'none' },
    ...{ privateKey: KEY.privateKey, authResults: `mx.forwarder.example; ${results}` },
  });
  return Buffer.concat([seal, aTlsMail()]);
}

test.each<[string, () => Buffer | Promise<Buffer>, string, Read?]>([
  ['a signature of the contact’s domain', () => sign(aTlsMail()), NEW],
  ['one of its owner', () => sign(aTlsMail(), { domain: `mail.${DOMAIN}` }), NEW],
  [
    'one of the contact under another From',
    () => sign(aTlsMail({ from: 'noreply@service.example' })),
    NEW,
  ],
  [
    'one of From where the contact is another',
    () => sign(aTlsMail({ contact: 'tls@other.example' })),
    'unproven',
  ],
  ['none', aTlsMail, 'unproven'],
  ['none from a client that SPF allows', aTlsMail, 'unproven', { envelope: CLIENT }],
  ['one beside SPF', () => sign(aTlsMail()), NEW, { envelope: CLIENT }],
  ['one of a part of the body', () => sign(aTlsMail(), { maxBodyLength: 20 }), 'unproven'],
  [
    'the submitter’s where there is no contact',
    () => sign(aTlsMail({ contact: null, submitter: DOMAIN })),
    NEW,
  ],
  [
    'another one’s there',
    () => sign(aTlsMail({ contact: null, submitter: 'other.example' })),
    'unproven',
  ],
  ['one there without a submitter', () => sign(aTlsMail({ contact: null })), 'unproven'],
  [
    'the submitter’s where the contact is another',
    () => sign(aTlsMail({ contact: 'tls@other.example', submitter: DOMAIN })),
    'unproven',
  ],
  ['a key for TLS reports', () => sign(aTlsMail()), NEW, { services: 'tlsrpt' }],
  ['a key for them and mail', () => sign(aTlsMail()), NEW, { services: 'email:tlsrpt' }],
  ['a key for something else', () => sign(aTlsMail()), 'unproven', { services: 'other' }],
  ['what a server of ours found', () => withResults(PASSED, aTlsMail()), NEW, TRUSTED],
  [
    'what it found by SPF',
    () => withResults(`spf=pass smtp.mailfrom=a@${DOMAIN}`, aTlsMail()),
    'unproven',
    TRUSTED,
  ],
  [
    'what it found of a signature of a part',
    async () => withResults(PASSED, await sign(aTlsMail(), { maxBodyLength: 20 })),
    'unproven',
    TRUSTED,
  ],
  ['what a server of ours sealed', () => sealed(PASSED), NEW, TRUSTED],
  [
    'what it sealed of SPF',
    () => sealed(`spf=pass smtp.mailfrom=a@${DOMAIN}`),
    'unproven',
    TRUSTED,
  ],
  [
    'the address of Google',
    () =>
      sign(
        aTlsMail({ from: GOOGLE, contact: 'smtp-tls-reporting@google.com', org: 'Google Inc.' }),
        {
          domain: 'google.com',
          fields: ['From', 'To'],
        },
      ),
    'google.com',
  ],
  [
    'another address there',
    () => sign(aTlsMail({ from: 'a@google.com', contact: GOOGLE }), { domain: 'google.com' }),
    'unproven',
  ],
  [
    'somebody at a provider of mailboxes',
    () => sign(aTlsMail({ from: 'a@gmail.com', contact: 'b@gmail.com' }), { domain: 'gmail.com' }),
    'new a@gmail.com',
  ],
  [
    'a provider of mailboxes under another From',
    () => sign(aTlsMail({ contact: 'b@gmail.com' }), { domain: 'gmail.com' }),
    'unproven',
  ],
])('a TLS report by mail is authenticated by %s or not', async (_by, toMail, tls, read = {}) => {
  expect(await readSenders(await toMail(), read)).toEqual({ tls });
});

test('a mail of both kinds is believed by the rules of each', async () => {
  const both = aTlsMail({ parts: [aReportXml()] });
  const from = `new ${DOMAIN}`;
  expect(await readSenders(both, { envelope: CLIENT })).toEqual({ dmarc: from, tls: 'disputed' });
  const signed = await sign(both);
  expect(await readSenders(signed, { services: 'tlsrpt' })).toEqual({
    dmarc: 'unproven',
    tls: from,
  });
  expect(await readSenders(signed, {})).toEqual({ dmarc: from, tls: from });
});
