import { loadOwnerDomains } from '../../domain/dns/organizational-domain.ts';
import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import { deleteAlerts } from '../alerts/alerts.ts';
import type { Db, Tx } from '../engine/database.ts';
import { type Actor, insertAudit, operator } from '../events/audit.ts';
import { lockDomain, newVersion, touchDomainList } from '../lists/heads.ts';
import { deleteDomain } from '../reports/aging/eviction.ts';
import { deleteOldest } from '../reports/aging/old-reports.ts';
import { finishListing } from '../reports/listing.ts';
import { type DomainRow, noteChange, selectDomain, updateDomainStatus } from './domains.ts';
import { insertIgnored } from './proposals.ts';

/** One transaction deletes so many, so that the feed tells of all of them at once. A domain has more only after decades. */
const ALERTS_AT_ONCE = 5_000;

type Removal = Readonly<{ by: Actor; deletesReports: boolean; accountId: string }>;

/**
 * The account's alerts, marks and DNS states of the domain are deleted; its reports are unclaimed then, or deleted in
 * bounded transactions before. The account gets it again only when somebody adds it. Throws `not_found`, also for a
 * domain without account, and when another account than `accountId`, or than at the beginning, has it.
 */
export async function removeDomain(
  db: Db,
  id: string,
  { by = operator(), deletesReports = false, accountId }: Partial<Removal> = {},
): Promise<DomainRow> {
  const toOwnerDomain = await loadOwnerDomains();
  let owner = accountId;
  if (deletesReports) {
    owner = (await db.write((tx) => lockOwned(tx, id, accountId))).accountId;
    // While its reports go, no alert fires and nobody is told of others that come.
    await updateDomainStatus(db, id, 'paused', by.at, by);
  }
  for (;;) {
    const removed = await db.write(async (tx) => {
      const domain = await lockOwned(tx, id, owner);
      const { accountId } = domain;
      owner = accountId;
      if (deletesReports && (await deleteOldest(tx, id)) !== undefined) return undefined;
      const alerts = await deleteAlerts(tx, { accountId, domainId: id, limit: ALERTS_AT_ONCE });
      if (alerts === ALERTS_AT_ONCE) return undefined;
      const removed = { accountId, type: 'domain.removed', at: by.at } as const;
      const number = await noteChange(tx, domain, removed);
      await noteRemovedAlerts(tx, accountId, number);
      if (deletesReports) await deleteDomain(tx, id);
      else await release(tx, domain, by.at);
      const isPaused = domain.status === 'paused';
      await touchDomainList(tx, accountId, { added: -1, isPaused });
      const { name } = domain;
      const organizationalDomain = toOwnerDomain(name);
      await insertIgnored(tx, { accountId, name, organizationalDomain, now: by.at });
      await insertAudit(tx, by, { accountId, action: 'domain_removed', subject: name });
      return domain;
    });
    if (removed === undefined) continue;
    await finishListing(db, id);
    return removed;
  }
}

type OwnedDomain = DomainRow & { readonly accountId: string };

async function lockOwned(tx: Tx, id: string, owner: string | undefined): Promise<OwnedDomain> {
  await lockDomain(tx, id);
  const domain = await selectDomain(tx, id);
  if (domain?.account_id == null || (owner ?? domain.account_id) !== domain.account_id)
    throw new Failure('not_found', `No account has a domain with the id ${id}.`);
  return { ...domain, accountId: domain.account_id };
}

/** Who follows the account's alerts begins again: a list cannot tell of what was removed. */
async function noteRemovedAlerts(tx: Tx, accountId: string, number: number): Promise<void> {
  const account = tx.updateTable('account').set({ alerts_removed: number });
  await account.where('id', '=', accountId).execute();
}

/** Whoever adds it begins anew: not paused, sending mail, with its DNS records as they are then, and without alerts of before. */
async function release(tx: Tx, { id, tls_version }: OwnedDomain, now: Instant) {
  await tx.deleteFrom('source_mark').where('domain_id', '=', id).execute();
  await tx.deleteFrom('dns_record').where('domain_id', '=', id).execute();
  await tx
    .updateTable('domain')
    .set({ account_id: null, status: 'active', watched_since: null, removed_at: now })
    .set({ alerts_version: newVersion(), reports_version: newVersion(), sends_no_mail: 0 })
    .set({ tls_version: tls_version && newVersion() })
    .where('id', '=', id)
    .execute();
}
