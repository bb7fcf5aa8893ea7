import { setImmediate as yieldToRequests } from 'node:timers/promises';
import { sql } from 'kysely';
import { loadOwnerDomains } from '../../../domain/dns/organizational-domain.ts';
import { addDays, type Day, toDay } from '../../../domain/instant.ts';
import { trimRejections } from '../../documents/rejections.ts';
import { ORIGINAL_BYTES, ROW_BYTES } from '../../documents/stored-bytes.ts';
import type { Db } from '../../engine/database.ts';
import { dialectOf } from '../../engine/dialect.ts';
import { isOfDomain } from '../../lists/heads.ts';
import { readNow } from '../../work/clock.ts';
import type { NoteGone } from '../../work/gone.ts';
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
  readonly noteGone?: NoteGone | undefined;
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
async function measureOwners(db: Db, before: Day, { mayGoOn, noteGone }: Trim): Promise<Owner[]> {
  const until = addDays(before, -1);
  const owners = new Map<string, Owner>();
  for await (const { id: domainId, name } of listUnclaimed(db, before)) {
    const oldest = await findOldestDay(db, domainId);
    if (oldest === undefined) continue;
    const old = { domainId, until, bytes: Number.POSITIVE_INFINITY, mayGoOn, noteGone };
    if (oldest < before) await evictReports(db, old);
    // Where no such domain is, the list of suffixes is not loaded.
    const key = (await loadOwnerDomains())(name);
    const owner = owners.get(key) ?? { ids: [], bytes: 0, oldest };
    owners.set(key, owner);
    owner.ids.push(domainId);
    owner.bytes += await measureBytes(db, domainId);
    if (oldest < owner.oldest) owner.oldest = oldest;
    if (!(await mayGoOn())) break;
  }
  return [...owners.values()];
}

/** On which the first of its reports that is left was received. */
async function findOldestDay(db: Db, domainId: string): Promise<Day | undefined> {
  const reports = db.selectFrom('report').select('received_at').where(isOfDomain(domainId));
  const first = await reports.orderBy('seq').limit(1).executeTakeFirst();
  return first && toDay(first.received_at);
}

/** Reports that one statement measures: on SQLite it holds up the requests of this process. */
const MEASURED_AT_ONCE = 2_000;

const bytesOf = (content: string) =>
  sql<number>`sum(${ROW_BYTES} + length(${sql.ref(content)}) + ${ORIGINAL_BYTES})`.as('bytes');

/** What is stored of its reports and their conflicts. */
async function measureBytes(db: Db, domainId: string): Promise<number> {
  const conflicts = await db
    .selectFrom('conflict')
    .leftJoin('document', 'document.seq', 'document_seq')
    .select(bytesOf('conflict.parsed'))
    .where(isOfDomain(domainId))
    .executeTakeFirstOrThrow();
  let bytes = Number(conflicts.bytes ?? 0);
  const reports = db.selectFrom('report').where(isOfDomain(domainId)).orderBy('seq');
  for (let after = 0; ; await yieldToRequests()) {
    const part = reports.select(['seq', 'content', 'document_seq']).where('seq', '>', after);
    const measured = await db
      .selectFrom(part.limit(MEASURED_AT_ONCE).as('report'))
      .leftJoin('document', 'document.seq', 'document_seq')
      .select(({ fn }) => [fn.max('report.seq').as('last'), bytesOf('report.content')])
      .executeTakeFirstOrThrow();
    if (measured.last === null) return bytes;
    bytes += Number(measured.bytes);
    after = Number(measured.last);
  }
}

/** Not what an account had until lately: it may want it back. */
function listUnclaimed(db: Db, before: Day) {
  const unclaimed = db
    .selectFrom('domain')
    .select(['id', 'name'])
    .where('account_id', 'is', null)
    .where('status', '=', 'active')
    .where((eb) => eb.or([eb('removed_at', 'is', null), eb('removed_at', '<', before)]));
  return readByName(unclaimed);
}

/** The largest owners give way, down to a share with which all have place; among equals the oldest. */
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

/** Reports go by the day of their receipt, whichever of its domains they are of. */
async function trimOwner(db: Db, { ids }: Owner, trim: Trim): Promise<number> {
  const { bytes } = trim;
  let freed = 0;
  while (freed < bytes && (await trim.mayGoOn())) {
    const before = freed;
    for (const { domainId, until } of await listOldestDays(db, ids))
      freed += await evictReports(db, { ...trim, domainId, until, bytes: bytes - freed });
    if (freed === before) return freed;
  }
  return freed;
}

/** The oldest day of receipt of each domain that has reports, oldest first. */
async function listOldestDays(db: Db, ids: readonly string[]) {
  const days = dialectOf(db).isDivided ? await readDays(db, ids) : await readDaysAtOnce(db, ids);
  return days.sort((a, b) => (a.until < b.until ? -1 : a.until > b.until ? 1 : 0));
}

/** On several servers each domain is asked for alone. */
async function readDays(db: Db, ids: readonly string[]) {
  const days: { domainId: string; until: Day }[] = [];
  for (const domainId of ids) {
    const until = await findOldestDay(db, domainId);
    if (until !== undefined) days.push({ domainId, until });
  }
  return days;
}

async function readDaysAtOnce(db: Db, ids: readonly string[]) {
  const isOne = dialectOf(db).isIn(sql.ref('id'), sql.val(JSON.stringify(ids)), 'uuid');
  const rows = await db
    .selectFrom('domain')
    .select(({ selectFrom }) => [
      'id as domainId',
      selectFrom('report')
        .select('received_at')
        .whereRef('domain_seq', '=', 'domain.seq')
        .orderBy('seq')
        .limit(1)
        .as('oldest'),
    ])
    .where(isOne)
    .execute();
  return rows.flatMap(({ domainId, oldest }) =>
    oldest === null ? [] : [{ domainId, until: toDay(oldest) }],
  );
}
