import { expressionBuilder, type Kysely, type Selectable, sql } from 'kysely';
import { parseDomainName, reverse } from '../../domain/domain-name.ts';
import { Failure, toFailure } from '../../domain/failure.ts';
import { type Instant, toInstant } from '../../domain/instant.ts';
import { findAccount } from '../accounts/accounts.ts';
import { lockOwnDomain } from '../days/marks.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { dialectOf, type JsonRow } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import { type Actor, insertAudit, operator } from '../events/audit.ts';
import { tellOfChanges } from '../events/events.ts';
import type { Filters, Wanted } from '../lists/declaration.ts';
import { declareList } from '../lists/declared.ts';
import { lockDomain, touchDays, touchDomainList } from '../lists/heads.ts';
import type { PagedList } from '../lists/page.ts';
import { finishListing, noteListing } from '../reports/listing.ts';
import { findOrInsertDomain, insertReportedDomains } from '../reports/reported-domains.ts';
import type { DomainStatus, Tables } from '../tables.ts';
import { isInShard, type Shard } from '../work/shards.ts';

export const DOMAIN_COLUMNS = [
  'id',
  'name',
  'status',
  'last_report_at',
  'reports_total',
  'tls_total',
  'sends_no_mail',
  'tls_version',
] as const;
export type DomainRow = Readonly<
  Pick<Selectable<Tables['domain']>, (typeof DOMAIN_COLUMNS)[number]>
>;

export interface NewDomain {
  readonly accountId: string;
  readonly name: string;
  readonly now: Instant;
  /** The demo gives its domains the same ids in every run. */
  readonly id?: string | undefined;
}

/** The domain's account also gets the reports that came in before. A name belongs to one account. */
export async function insertDomain(
  db: Db,
  domain: NewDomain,
  by: Actor = operator(domain.now),
): Promise<DomainRow> {
  const added = await db.write((tx) => addDomain(tx, domain, by));
  await finishListing(db, added.id);
  return added;
}

/**
 * The same of many names, which were parsed, in one transaction: returns what became of each, in their order. What refuses one is
 * found before anything of it is written.
 */
export async function insertDomains(
  db: Db,
  { names, ...given }: Pick<NewDomain, 'accountId' | 'now'> & { readonly names: readonly string[] },
): Promise<(DomainRow | Failure)[]> {
  const by = operator(given.now);
  const added = await db.write(async (tx) => {
    // The rows of all before the account's (decision 64).
    await insertReportedDomains(
      tx,
      names.map((name) => ({ name })),
      given.now,
    );
    const outcomes: (DomainRow | Failure)[] = [];
    for (const name of names)
      outcomes.push(await addDomain(tx, { ...given, name }, by).catch(toFailure));
    return outcomes;
  });
  for (const domain of added)
    if ('id' in domain && domain.reports_total + domain.tls_total > 0)
      await finishListing(db, domain.id);
  return added;
}

/** Nobody has to decide about its name any more. Its reports are listed afterwards (reports/listing.ts). */
export async function addDomain(
  tx: Tx,
  { accountId, name, now, id: newId }: NewDomain,
  by: Actor,
): Promise<DomainRow> {
  const parsed = parseDomainName(name);
  if (parsed === undefined)
    throw new Failure('validation_error', `“${name}” is not a domain name.`);
  await findAccount(tx, accountId);
  const { id } = await findOrInsertDomain(tx, parsed, now, newId);
  const { numUpdatedRows } = await tx
    .updateTable('domain')
    .set({ account_id: accountId, removed_at: null })
    .where('id', '=', id)
    .where('account_id', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw await toTaken(tx, id, accountId);
  await touchDomainList(tx, accountId, { added: 1 });
  const added = (await selectDomain(tx, id)) as DomainRow;
  const number = await noteChange(tx, added, { accountId, type: 'domain.listed', at: now });
  // What the account may have of an earlier time, when it had the domain already, is no longer good.
  const removed = { reports_removed: number, tls_removed: number, alerts_removed: number };
  await tx.updateTable('domain').set(removed).where('id', '=', id).execute();
  await tx.deleteFrom('domain_proposal').where('name', '=', parsed).execute();
  const action = by.name === 'plumbline' ? 'domain_claimed' : 'domain_added';
  await insertAudit(tx, by, { accountId, action, subject: parsed });
  return added;
}

interface DomainChange {
  readonly accountId: string;
  readonly type: 'domain.listed' | 'domain.unlisted' | 'domain.removed';
  readonly at: Instant;
}

/** Tells who follows the account, in its feed and by webhooks. Returns the number of the change. */
export async function noteChange(
  tx: Tx,
  { id, name: domain, status, last_report_at }: DomainRow,
  change: DomainChange,
): Promise<number> {
  const { type, at } = change;
  const brings = type === 'domain.listed' ? { domain: { id, domain, status, last_report_at } } : {};
  await tellOfChanges(tx, { ...change, data: [{ type, domain_id: id, at, ...brings }] });
  return await noteListing(tx, { ...change, domainId: id }, type);
}

/** An account's domains by name, including paused ones. */
export async function listAllDomains(db: Db, accountId: string): Promise<DomainRow[]> {
  await findAccount(db, accountId);
  const domains = db.selectFrom('domain').select(DOMAIN_COLUMNS).orderBy('name');
  return await domains.where('account_id', '=', accountId).execute();
}

/** Active domains of all accounts, of one shard or of all shards. Only these have alerts. */
export async function listWatchedDomainIds(db: Db, shard?: Shard): Promise<string[]> {
  const rows = await db
    .selectFrom('domain')
    .select('id')
    .where('account_id', 'is not', null)
    .where('status', '=', 'active')
    .$if(shard !== undefined, (query) => query.where((eb) => isInShard(eb, shard as Shard)))
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

export async function findDomainIds(db: Queries, names: readonly string[]): Promise<string[]> {
  const isNamed = dialectOf(db).isIn(sql.ref('name'), sql.val(JSON.stringify(names)), 'text');
  const rows = await db.selectFrom('domain').select('id').where(isNamed).execute();
  return rows.map(({ id }) => id);
}

export async function findDomainName(
  db: Queries,
  { domainId, accountId }: { readonly domainId: string; readonly accountId: string },
): Promise<string | undefined> {
  const name = db.selectFrom('domain').select('name').where('id', '=', domainId);
  return (await name.where('account_id', '=', accountId).executeTakeFirst())?.name;
}

/** Repeating it changes nothing. Throws `not_found` for a domain without account. */
export async function updateDomainStatus(
  db: Db,
  id: string,
  status: DomainStatus,
  now: Instant = toInstant(new Date()),
  by: Actor = operator(now),
): Promise<DomainRow> {
  const domain = await db.write(async (tx) => {
    // Else copies of the row on several servers would be compared at different moments (decision 134).
    await lockDomain(tx, id);
    const changed = await tx
      .updateTable('domain')
      // Alerts of a resumed domain start again.
      .set(status === 'active' ? { status, watched_since: now } : { status })
      .where('id', '=', id)
      .where('account_id', 'is not', null)
      .where('status', '<>', status)
      .returning('account_id')
      .executeTakeFirst();
    const domain = await selectDomain(tx, id);
    if (domain?.account_id == null) throw new Failure('not_found', `No domain has the id ${id}.`);
    if (changed === undefined) return domain;
    const { account_id: accountId, name: subject } = domain;
    await touchDomainList(tx, accountId, { added: status === 'active' ? 1 : -1 });
    const type = status === 'active' ? 'domain.listed' : 'domain.unlisted';
    await noteChange(tx, domain, { accountId, type, at: now });
    const action = status === 'active' ? 'domain_resumed' : 'domain_paused';
    await insertAudit(tx, by, { accountId, action, subject });
    return domain;
  });
  await finishListing(db, id);
  return domain;
}

/** Repeating it changes nothing. Throws `not_found` for another account's domain. */
export async function updateSendsNoMail(
  db: Db,
  { domainId, sendsNoMail }: { readonly domainId: string; readonly sendsNoMail: boolean },
  by: Actor & { readonly accountId: string },
): Promise<void> {
  const { accountId } = by;
  const value = sendsNoMail ? 1 : 0;
  await db.write(async (tx) => {
    const subject = await lockOwnDomain(tx, domainId, accountId);
    const said = tx.updateTable('domain').set({ sends_no_mail: value });
    const changed = said.where('id', '=', domainId).where('sends_no_mail', '<>', value);
    const { numUpdatedRows } = await changed.executeTakeFirst();
    const action = sendsNoMail ? 'domain_sends_no_mail' : 'domain_sends_mail';
    if (numUpdatedRows === 0n) return;
    await touchDays(tx, domainId);
    await insertAudit(tx, by, { accountId, action, subject });
  });
}

export function selectDomain(tx: Tx, id: string) {
  return tx
    .selectFrom('domain')
    .select([...DOMAIN_COLUMNS, 'account_id'])
    .where('id', '=', id)
    .executeTakeFirst();
}

async function toTaken(tx: Tx, id: string, accountId: string): Promise<Failure> {
  const domain = await selectDomain(tx, id);
  return domain?.account_id === accountId
    ? new Failure('conflict', `The account has ${domain.name} already.`)
    : new Failure('conflict', `${domain?.name} belongs to another account.`);
}

export type ListedDomain = JsonRow<ReturnType<typeof fieldsOfDomain>>;

export function fieldsOfDomain(db: Kysely<Tables>) {
  const { asInstant } = dialectOf(db);
  const { ref } = expressionBuilder<Tables, 'domain'>();
  return {
    id: ref('id'),
    domain: ref('name'),
    status: ref('status'),
    last_report_at: asInstant(ref('last_report_at')),
  };
}

/** @internal Tests have a model of each. */
export const DOMAIN_FILTERS = {
  /** A whole name, or `*.` and a name: every name below it. */
  name: (name: string) => {
    if (!name.startsWith('*.')) return [[['name', '=', name]]];
    const above = reverse(name.slice(1));
    return [
      [
        ['reversed', '>', above],
        ['reversed', '<', `${above}~`],
      ],
    ];
  },
  status: (status: DomainStatus) => [[['status', '=', status]]],
} as const satisfies Filters;

/** Which domains a list has: the active ones where nothing is given. */
export interface DomainFilter extends Omit<Wanted<typeof DOMAIN_FILTERS>, 'status'> {
  readonly status?: DomainStatus | 'all' | undefined;
}

/** An account's domains by name. */
export function domainsOf(
  accountId: string,
  { name, status = 'active' }: DomainFilter = {},
): PagedList<ListedDomain> {
  if (status === 'active') return open('active', { accountId }, { name });
  return open('all', { accountId }, { name, status: status === 'all' ? undefined : status });
}

const open = declareList({
  table: 'domain',
  order: ['name'],
  keyOf: (item) => (item as ListedDomain).domain,
  filters: DOMAIN_FILTERS,
  scopes: {
    active: {
      toId: ({ accountId }) => `domains ${accountId}`,
      isOwn: (owner) => sql`account_id = ${owner} and status = 'active'`,
      fields: fieldsOfDomain,
      version: 'account.domains_version',
      head: ({ accountId }) => activeHead({ accountId }),
    },
    all: {
      toId: ({ accountId }) => `all domains ${accountId}`,
      isOwn: (owner) => sql`account_id = ${owner}`,
      fields: fieldsOfDomain,
      version: 'account.all_domains_version',
      head: ({ accountId }) => allHead({ accountId }),
    },
  },
});

const activeHead = prepareQuery((db, param: Param<{ accountId: string }>) =>
  db
    .selectFrom('account')
    .select(['domains_total as total', 'domains_version as version'])
    .where('id', '=', param('accountId')),
);

/** There are few paused ones among all; active ones are counted. */
const allHead = prepareQuery((db, param: Param<{ accountId: string }>) =>
  db
    .selectFrom('account')
    .select(({ selectFrom }) =>
      sql<number>`domains_total + ${selectFrom('domain')
        .select(({ fn }) => fn.countAll().as('paused'))
        .where('account_id', '=', param('accountId'))
        .where('status', '=', 'paused')}`.as('total'),
    )
    .select('all_domains_version as version')
    .where('id', '=', param('accountId')),
);
