import { sql } from 'kysely';
import { loadOwnerDomains } from '../../domain/dns/organizational-domain.ts';
import { addDays, type Day, toDay } from '../../domain/instant.ts';
import { trimRejections } from '../documents/rejections.ts';
import type { Db } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { readNow } from '../work/clock.ts';
import { evictReports } from './eviction.ts';
import { readByName } from './old-reports.ts';

/*
 * Anybody can send reports about any domain. Those that no account has are bounded in days and in bytes, and so is what
 * was rejected. An organisational domain has a share, so that reports about one do not push out those about others.
 */

export interface UnclaimedBounds {
  readonly days: number;
  readonly bytes: number;
}

interface Trim extends UnclaimedBounds {
  readonly mayGoOn: () => Promise<boolean>;
}

/** Returns whether it came to the end. Doing it twice does no harm. */
export async function trimUnclaimed(db: Db, trim: Trim): Promise<boolean> {
  const today = toDay(await readNow(db));
  const before = addDays(today, -trim.days);
  const owners = await measureOwners(db, before, trim);
  await trimOwners(db, owners, trim);
  await trimRejections(db, { ...trim, before });
  return await trim.mayGoOn();
}

/** An organisational domain with those of its domains that no account has. */
interface Owner {
  readonly ids: string[];
  bytes: number;
  oldest: Day;
}

/** Adds up the reports of each owner, after those that are too old have gone. */
async function measureOwners(db: Db, before: Day, { mayGoOn }: Trim): Promise<Owner[]> {
  const until = addDays(before, -1);
  const owners = new Map<string, Owner>();
  for await (const { id: domainId, name, bytes, oldest } of listUnclaimed(db, before)) {
    if (oldest === null) continue;
    const old = { domainId, until, bytes: Number.POSITIVE_INFINITY, mayGoOn };
    const gone = oldest < before ? await evictReports(db, old) : 0;
    // Where no such domain is, the list of suffixes is not loaded.
    const key = (await loadOwnerDomains())(name);
    const owner = owners.get(key) ?? { ids: [], bytes: 0, oldest };
    owners.set(key, owner);
    owner.ids.push(domainId);
    owner.bytes += Number(bytes) - gone;
    if (oldest < owner.oldest) owner.oldest = oldest;
    if (!(await mayGoOn())) break;
  }
  return [...owners.values()];
}

/** Not what an account had until lately: it may want it back. */
function listUnclaimed(db: Db, before: Day) {
  const unclaimed = db
    .selectFrom('domain')
    .select((eb) => {
      const days = eb.selectFrom('domain_receipt').whereRef('domain_id', '=', 'domain.id');
      return [
        ...(['id', 'name'] as const),
        days.select(({ fn }) => fn.sum('bytes').as('bytes')).as('bytes'),
        days.select(({ fn }) => fn.min('day').as('day')).as('oldest'),
      ];
    })
    .where('account_id', 'is', null)
    .where('status', '=', 'active')
    .where((eb) => eb.or([eb('removed_at', 'is', null), eb('removed_at', '<', before)]));
  return readByName(unclaimed);
}

/** Those with the most give way, down to a share with which all have place; of as many bytes the oldest ones. */
async function trimOwners(db: Db, owners: readonly Owner[], trim: Trim): Promise<void> {
  const sizes = owners.map(({ bytes }) => bytes);
  const share = toShare(sizes, trim.bytes);
  const over = owners
    .filter(({ bytes }) => bytes > share)
    .sort((a, b) => b.bytes - a.bytes || (a.oldest < b.oldest ? -1 : 1));
  let excess = sizes.reduce((sum, size) => sum + size, 0) - trim.bytes;
  for (const owner of over) {
    if (excess <= 0) return;
    const bytes = Math.min(owner.bytes - share, excess);
    excess -= await trimOwner(db, owner, { ...trim, bytes });
  }
}

/**
 * The share of each, when those that need less than an equal part leave the rest to the others.
 *
 * @internal Tests call it too.
 */
export function toShare(sizes: readonly number[], bytes: number): number {
  let rest = bytes;
  for (const [i, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = rest / (sizes.length - i);
    if (size > share) return share;
    rest -= size;
  }
  return Number.POSITIVE_INFINITY;
}

const DAYS_AT_ONCE = 500;

/** The oldest days of receipt first, whichever of its domains they are of. */
async function trimOwner(db: Db, { ids }: Owner, { bytes, mayGoOn }: Trim): Promise<number> {
  let freed = 0;
  while (freed < bytes && (await mayGoOn())) {
    const days = await db
      .selectFrom('domain_receipt')
      .select(['domain_id', 'day'])
      .where(dialectOf(db).isIn(sql.ref('domain_id'), sql.val(JSON.stringify(ids)), 'uuid'))
      .orderBy('day')
      .orderBy('domain_id')
      .limit(DAYS_AT_ONCE)
      .execute();
    const before = freed;
    for (const { domain_id: domainId, day: until } of days)
      freed += await evictReports(db, { domainId, until, bytes: bytes - freed, mayGoOn });
    if (freed === before) return freed;
  }
  return freed;
}
