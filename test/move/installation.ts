import { randomBytes } from 'node:crypto';
import { receiveInputs } from '../../scripts/receive.ts';
import { hashSecret } from '../../src/domain/access/secret.ts';
import { Refusal } from '../../src/domain/reports/refusal.ts';
import { deleteApiKey } from '../../src/store/accounts/api-keys.ts';
import { updateDnsRecord } from '../../src/store/alerts/dns-records.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import { updateNames } from '../../src/store/days/names.ts';
import { claimOrPropose } from '../../src/store/domains/proposals.ts';
import type { Db } from '../../src/store/engine/database.ts';
import { operator } from '../../src/store/events/audit.ts';
import { noteDoor, updateCheckpoint } from '../../src/store/inbox/doors.ts';
import { insertWebhook } from '../../src/store/notify/webhooks.ts';
import { insertPerson } from '../../src/store/people/new-people.ts';
import { insertOneTimeLink } from '../../src/store/people/passwords.ts';
import { insertPendingSignIn } from '../../src/store/people/pending-sign-ins.ts';
import { insertLeftOut, updateMailServer } from '../../src/store/people/person-mail.ts';
import { confirmSecondFactor, startSecondFactor } from '../../src/store/people/second-factors.ts';
import { insertSession } from '../../src/store/people/sessions.ts';
import { preferConflict, removeReport } from '../../src/store/reports/corrections.ts';
import {
  aDomain,
  aKey,
  anAccount,
  anAlert,
  aReport,
  NOW,
  receive,
  resolveAlert,
  type TestAccount,
  UNKNOWN_ID,
} from '../support/builders.ts';
import { deliverMail } from '../support/inbox.ts';
import { tellReceivers } from '../support/outbox.ts';
import { sealing } from '../support/webhooks.ts';

export interface Installation {
  readonly account: TestAccount;
  readonly domain: { readonly id: string; readonly name: string };
}

/** Characters that a text of an array, of JSON or of the protocol could lose. */
const ODD = String.raw`a "quoted" \ back\\slash, {brace} 'it''s' NULL`.concat(
  ' \u{1f4ec} é \n\t\r',
);

/** Rows in every table, with what the product can store and a copy could change. */
export async function fillInstallation(db: Db): Promise<Installation> {
  const account = await anAccount(db, { name: ODD });
  const domain = await aDomain(db, account.id, { name: 'example.com' });
  await aDomain(db, account.id, { status: 'paused' });
  await fillReceivers(db, account.id);
  await fillReports(db);
  await fillAlerts(db, { accountId: account.id, domainId: domain.id });
  await fillOther(db);
  await fillInbox(db);
  await deleteApiKey(db, (await aKey(db, account.id, ODD)).keyId, operator());
  return { account, domain };
}

async function fillReports(db: Db): Promise<void> {
  const ofDay = (day: number) => `2026-03-${String(day).padStart(2, '0')}T00:00:00Z`;
  const reports = Array.from({ length: 70 }, (_, i) =>
    aReport({ begin: ofDay((i % 28) + 1), orgName: i % 2 === 0 ? ODD : null, email: '' }),
  );
  await receive(db, reports);
  await receive(db, [aReport({ domain: 'unclaimed.example' })]);
  await receive(db, [aReport({ reportId: 'of a reporter' })], NOW, { authenticated: ODD });
  const toStranger = () => aReport({ domain: 'unclaimed.example' });
  for (const authenticated of [ODD, '']) await receive(db, [toStranger()], NOW, { authenticated });
  const sent = { reportId: ODD, totalMessages: Number.MAX_SAFE_INTEGER, alignedMessages: 4 };
  await receive(db, [aReport({ ...sent, payload: 'first' })]);
  await receive(db, [aReport({ ...sent, payload: 'second' })]);
  await preferConflict(db, 1);
  await removeNewest(db);
  await receiveInputs(db, [aLargeSource(), aRejected()], NOW);
}

/** The newest report of all is removed: its number is not given again. */
async function removeNewest(db: Db): Promise<void> {
  await receive(db, [aReport({ reportId: 'removed' })]);
  const { id } = await db
    .selectFrom('report')
    .select('id')
    .orderBy('seq', 'desc')
    .executeTakeFirstOrThrow();
  await removeReport(db, id, NOW);
}

function aLargeSource() {
  const documents = [
    { member: ['a.zip', ODD], content: aReport({ reportId: 'of a large source' }) },
  ];
  return { name: 'large.zip', bytes: randomBytes(2_500_000), documents };
}

function aRejected() {
  const bytes = Buffer.from([0, 0x5c, 0x22, 0xff, 0x7b]);
  return {
    name: 'rejected',
    bytes,
    documents: [{ member: [], content: new Refusal('no_report', ODD) }],
  };
}

async function fillAlerts(
  db: Db,
  owner: { readonly accountId: string; readonly domainId: string },
): Promise<void> {
  await anAlert(db, owner);
  await tellReceivers(db);
  await resolveAlert(db, await anAlert(db, owner, {}), NOW);
  await fillSources(db, owner);
  await updateDnsRecord(db, {
    domainId: owner.domainId,
    type: 'dmarc',
    at: NOW,
    update: (state) => state,
  });
}

async function fillSources(
  db: Db,
  { accountId, domainId }: { readonly accountId: string; readonly domainId: string },
): Promise<void> {
  await updateNames(db, { domainId, now: NOW }, [
    { address: '192.0.2.1', name: 'mail.example.com', expiresAt: NOW },
    { address: '2001:db8::1', name: null, expiresAt: NOW },
  ]);
  const by = { name: 'you@example.com', accountId, address: '192.0.2.1', at: NOW };
  await updateMark(db, { domainId, subject: '192.0.2.1', mark: 'unknown' }, by);
}

/** An account whose alert the contract does not have. */
async function fillOther(db: Db): Promise<void> {
  const { id: accountId } = await anAccount(db, { name: 'Other' });
  const { id: domainId } = await aDomain(db, accountId);
  await anAlert(db, { accountId, domainId }, { context: { odd: ODD } });
  await claimOrPropose(db, { accountId, name: 'proposed.example', now: NOW });
}

async function fillInbox(db: Db): Promise<void> {
  await deliverMail(db, { key: ODD });
  await deliverMail(db, { bytes: randomBytes(2_500_000) });
  await noteDoor(db, 'smtp');
  await updateCheckpoint(db, 'imap', ODD);
}

/** Who are told of what is stored after this. */
async function fillReceivers(db: Db, accountId: string): Promise<void> {
  await updateMailServer(db, 'mail.example.com');
  await fillPeople(db, accountId);
  const endpoint = { accountId, url: 'https://example.com/hook', format: 'standard' } as const;
  const events = ['alert.fired', 'report.received'] as const;
  const by = { ...operator(NOW), accountId };
  await insertWebhook(db, { ...endpoint, description: ODD, events }, { sealing, by });
}

async function fillPeople(db: Db, accountId: string): Promise<void> {
  const password_hash = '$argon2id$odd';
  const person = { accountId, email: 'you@example.com', passwordHash: password_hash, now: NOW };
  const { id: personId } = await insertPerson(db, person);
  const session = { personId, proof: { password_hash }, address: '192.0.2.1', userAgent: ODD };
  await insertLeftOut(db, { personId, accountId, name: 'example.com' });
  await insertOneTimeLink(db, personId, NOW);
  await insertPendingSignIn(db, { personId, proof: { password_hash }, now: NOW });
  await startSecondFactor(db, personId, 'v1.sealed');
  const by = { name: ODD, personId, accountId, address: '192.0.2.1', at: NOW };
  const proof = { sealedSecret: 'v1.sealed', step: 59_000_000 };
  const wanted = {
    passwordHash: password_hash,
    proof,
    recoveryHashes: ['a', 'b'].map(hashSecret),
    sessionId: UNKNOWN_ID,
  };
  await confirmSecondFactor(db, wanted, by);
  await insertSession(db, { ...session, isFactorDone: true, now: NOW });
}
