import type { Selectable } from 'kysely';
import {
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditKind,
} from '../../domain/access/audit-actions.ts';
import { type Day, type Instant, toInstant } from '../../domain/instant.ts';
import type { Db, Tx } from '../engine/database.ts';
import { contains, toLikePattern } from '../lists/search.ts';
import type { Tables } from '../tables.ts';
import { insertNotice } from './notices.ts';

export interface Actor {
  /** A person's e-mail address, `operator`, or `plumbline` for what it does by itself. */
  readonly name: string;
  /** The account that the actor is limited to: rows of others are not found. Operators have no limit. */
  readonly accountId?: string;
  /** The person, where the actor is one: what only owners may do is checked again in the transaction. */
  readonly personId?: string;
  /** null for a command. */
  readonly address: string | null;
  readonly at: Instant;
}

export function operator(at: Instant = toInstant(new Date())): Actor {
  return { name: 'operator', address: null, at };
}

/** What happens without anybody: alerts, and domains whose DNS record names an account. */
export function plumbline(at: Instant): Actor {
  return { name: 'plumbline', address: null, at };
}

interface NewEntry {
  readonly accountId: string;
  readonly action: AuditAction;
  /** What it is done to, by the name that people know it by. */
  readonly subject: string;
  readonly detail?: string;
  /** Nobody is told by mail. */
  readonly isQuiet?: boolean;
}

const COLUMNS = ['seq', 'at', 'actor', 'action', 'subject', 'detail', 'address'] as const;
export type AuditEntry = Readonly<Pick<Selectable<Tables['audit']>, (typeof COLUMNS)[number]>>;

/** Runs in the transaction that makes the change. Whom it concerns is told by mail. */
export async function insertAudit(
  tx: Tx,
  { name: actor, address, at }: Pick<Actor, 'name' | 'address' | 'at'>,
  { accountId: account_id, action, subject, detail = '', isQuiet = false }: NewEntry,
): Promise<void> {
  const entry = { account_id, actor, address, at, action, subject, detail };
  await tx.insertInto('audit').values(entry).execute();
  if (!isQuiet) await insertNotice(tx, entry);
}

export interface AuditFilter {
  readonly kind?: AuditKind | undefined;
  readonly actor?: string | undefined;
  /** What one of an entry's texts contains. */
  readonly search?: string | undefined;
  readonly from?: Instant | undefined;
  /** Exclusive. */
  readonly until?: Instant | undefined;
}

const TEXTS = ['actor', 'subject', 'detail', 'address'] as const;

interface AuditQuery extends AuditFilter {
  readonly limit: number;
  /** The `seq` of the last entry of the page before. */
  readonly before?: number | undefined;
  /** The `seq` of the first entry that is looked at. */
  readonly since?: number | undefined;
}

/** One transaction looks at so many. Entries are in the order of their moments, but for clocks that differ. */
const LOOKED_AT = 500;

interface OldAudit {
  readonly before: Instant | Day;
  readonly mayGoOn: () => Promise<boolean>;
}

/** Deletes what was done before a moment, in bounded transactions. Returns how many entries that were. */
export async function deleteOldAudit(db: Db, { before, mayGoOn }: OldAudit) {
  let deleted = 0;
  for (let count = 1; count > 0 && (await mayGoOn()); deleted += count)
    count = await db.write(async (tx) => {
      const first = tx.selectFrom('audit').select(['seq', 'at']).orderBy('seq').limit(LOOKED_AT);
      const seqs = (await first.execute()).filter(({ at }) => at < before).map(({ seq }) => seq);
      if (seqs.length > 0) await tx.deleteFrom('audit').where('seq', 'in', seqs).execute();
      return seqs.length;
    });
  return { count: deleted, bytes: 0 };
}

export async function countOldAudit(db: Db, { before }: Pick<OldAudit, 'before'>) {
  const old = db.selectFrom('audit').where('at', '<', before);
  const counted = old.select(({ fn }) => fn.countAll<number>().as('entries'));
  return { count: Number((await counted.executeTakeFirstOrThrow()).entries), bytes: 0 };
}

/** Latest first. */
export function listAudit(
  db: Db,
  accountId: string,
  { limit, before, since, kind, actor, search, from, until }: AuditQuery,
): Promise<AuditEntry[]> {
  let query = db.selectFrom('audit').select(COLUMNS).where('account_id', '=', accountId);
  if (before !== undefined) query = query.where('seq', '<', before);
  if (since !== undefined) query = query.where('seq', '>=', since);
  if (kind !== undefined)
    query = query.where('action', 'in', Object.keys(AUDIT_ACTIONS[kind]) as AuditAction[]);
  if (actor !== undefined) query = query.where('actor', '=', actor);
  if (search !== undefined) query = query.where(contains(TEXTS, toLikePattern(search)));
  if (from !== undefined) query = query.where('at', '>=', from);
  if (until !== undefined) query = query.where('at', '<', until);
  return query.orderBy('seq', 'desc').limit(limit).execute();
}

/** The earliest entry that a search of `depth` entries looks at; undefined when it looks at all before an entry. */
export async function findSearchEnd(
  db: Db,
  accountId: string,
  { before, depth }: { readonly before?: number | undefined; readonly depth: number },
): Promise<{ readonly seq: number; readonly at: Instant } | undefined> {
  const entries = db.selectFrom('audit').select(['seq', 'at']).where('account_id', '=', accountId);
  const within = before === undefined ? entries : entries.where('seq', '<', before);
  const earliest = within.orderBy('seq', 'desc').offset(depth - 1);
  return await earliest.limit(1).executeTakeFirst();
}
