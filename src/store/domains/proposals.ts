import type { Expression } from 'kysely';
import { loadOwnerDomains } from '../../domain/dns/organizational-domain.ts';
import { Failure } from '../../domain/failure.ts';
import { DAY_MS, type Instant, later } from '../../domain/instant.ts';
import { findAccount, lockAccount } from '../accounts/accounts.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { type Actor, insertAudit, operator, plumbline } from '../events/audit.ts';
import { requireOwner } from '../people/people.ts';
import { finishListing } from '../reports/listing.ts';
import { addDomain, insertDomain, type NewDomain } from './domains.ts';
import { isBelow } from './related-domains.ts';

/*
 * Domains whose DMARC record names an account's address. Anybody can publish such records, any number with a wildcard,
 * so an owner of the account or the operator decides about a name of another organisation (decision 77).
 */

/** When there are more, the oldest goes. */
const MAX_OPEN = 50;
const MAX_IGNORED = 1_000;
const MAX_A_DAY = 10;
/** Domains of one organisation that an account gets by themselves: its own record can be a wildcard, too. */
const MAX_CLAIMED = 100;

/**
 * A name of an organisational domain that the account has becomes the account's; another one is proposed, the first of
 * its organisational domain. Returns whether it has become the account's. Throws `conflict` when another account has it.
 */
export async function claimOrPropose(db: Db, claim: NewDomain): Promise<boolean> {
  const { accountId, name, now } = claim;
  const toOrganizationalDomain = await loadOwnerDomains();
  const organizationalDomain = toOrganizationalDomain(name);
  const known = await ofOrganization(db, { accountId, organizationalDomain })
    .select(['name', 'ignored_at'])
    .execute();
  if (known.some((one) => one.name === name && one.ignored_at !== null)) return false;
  const below = await db
    .selectFrom('domain')
    .select('name')
    .where('account_id', '=', accountId)
    .where((eb) => eb.or([eb('name', '=', organizationalDomain), isBelow(organizationalDomain)]))
    .execute();
  const own = below.filter((one) => toOrganizationalDomain(one.name) === organizationalDomain);
  if (own.length > 0 && own.length < MAX_CLAIMED) {
    await insertDomain(db, claim, plumbline(now));
    return true;
  }
  if (known.length === 0)
    await db.write((tx) => insertProposal(tx, { accountId, organizationalDomain, name, now }));
  return false;
}

function ofOrganization(
  db: Queries,
  { accountId, organizationalDomain }: { accountId: string; organizationalDomain: string },
) {
  return db
    .selectFrom('domain_proposal')
    .where('account_id', '=', accountId)
    .where('organizational_domain', '=', organizationalDomain);
}

type NewProposal = NewDomain & { readonly organizationalDomain: string };

/** The account is locked, so that two processes do not exceed a bound together. */
async function insertProposal(tx: Tx, proposal: NewProposal): Promise<void> {
  const { accountId, now } = proposal;
  await lockAccount(tx, accountId);
  if (await ofOrganization(tx, proposal).select('name').executeTakeFirst()) return;
  const { today } = await tx
    .selectFrom('domain_proposal')
    .select((eb) => eb.fn.countAll<number>().as('today'))
    .where('account_id', '=', accountId)
    .where('proposed_at', '>', later(now, -DAY_MS))
    .executeTakeFirstOrThrow();
  if (today >= MAX_A_DAY) return;
  await insertRow(tx, proposal, null);
}

/** The account had the domain: neither it nor another name of its organisational domain is proposed. */
export async function insertIgnored(tx: Tx, proposal: NewProposal): Promise<void> {
  await lockAccount(tx, proposal.accountId);
  await insertRow(tx, proposal, proposal.now);
}

async function insertRow(
  tx: Tx,
  { accountId: account_id, name, organizationalDomain, now: proposed_at }: NewProposal,
  ignored_at: Instant | null,
): Promise<void> {
  const about = { name, organizational_domain: organizationalDomain };
  const row = { account_id, ...about, proposed_at, ignored_at };
  await tx.insertInto('domain_proposal').values(row).execute();
  await trim(tx, account_id);
}

/** Deletes what exceeds the two bounds, the oldest first. */
async function trim(tx: Tx, accountId: string): Promise<void> {
  const all = () => tx.selectFrom('domain_proposal').where('account_id', '=', accountId);
  const open = all().where('ignored_at', 'is', null).orderBy('proposed_at', 'desc');
  const ignored = all().where('ignored_at', 'is not', null).orderBy('ignored_at', 'desc');
  await tx
    .deleteFrom('domain_proposal')
    .where('account_id', '=', accountId)
    .where('name', 'not in', open.orderBy('name').select('name').limit(MAX_OPEN))
    .where('name', 'not in', ignored.orderBy('name').select('name').limit(MAX_IGNORED))
    .execute();
}

function selectProposals(db: Queries, accountId: string | Expression<string>) {
  return db
    .selectFrom('domain_proposal')
    .select(['name', 'proposed_at as proposedAt', 'ignored_at as ignoredAt'])
    .where('account_id', '=', accountId)
    .orderBy('proposed_at', 'desc')
    .orderBy('name');
}

export type Proposal = RowOfQuery<typeof openProposals>;

/** The proposals that nobody has decided about, the latest first. */
export const openProposals = prepareQuery((db, param: Param<{ accountId: string }>) =>
  selectProposals(db, param('accountId')).where('ignored_at', 'is', null),
);

/** All proposals, including ignored ones. */
export async function listProposals(db: Db, accountId: string): Promise<Proposal[]> {
  await findAccount(db, accountId);
  return await selectProposals(db, accountId).execute();
}

type Decided = Pick<NewDomain, 'accountId' | 'name'>;

/** Adds the domain, for an owner of the account. Throws `not_found`, or `conflict` when another account has it. */
export async function acceptProposal(db: Db, { accountId, name }: Decided, by: Actor) {
  const accepted = await db.write(async (tx) => {
    const proposal = await tx
      .selectFrom('domain_proposal')
      .select('name')
      .where('account_id', '=', accountId)
      .where('name', '=', name)
      .executeTakeFirst();
    if (proposal === undefined) throw noProposal(name);
    const domain = await addDomain(tx, { accountId, name, now: by.at }, by);
    // The account is locked now, after the domain.
    await requireOwner(tx, by);
    return domain;
  });
  await finishListing(db, accepted.id);
  return accepted;
}

/** Nothing of its organisational domain is proposed again. Throws `not_found`. */
export function ignoreProposal(db: Db, { accountId, name }: Decided, by: Actor = operator()) {
  return db.write(async (tx) => {
    await lockAccount(tx, accountId);
    await requireOwner(tx, by);
    const { numUpdatedRows } = await tx
      .updateTable('domain_proposal')
      .set({ ignored_at: by.at })
      .where('account_id', '=', accountId)
      .where('name', '=', name)
      .where('ignored_at', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw noProposal(name);
    await trim(tx, accountId);
    await insertAudit(tx, by, { accountId, action: 'domain_ignored', subject: name });
  });
}

function noProposal(name: string): Failure {
  return new Failure('not_found', `The account has no proposal to decide about for “${name}”.`);
}
