import { type Instant, toInstant } from '../../domain/instant.ts';
import type { Db, Tx } from '../connection/database.ts';
import type { AuditAction } from '../people/tables.ts';

/** Who changes something, when, and from which address. */
export interface Actor {
  /** A person's e-mail address, or `operator`. */
  readonly name: string;
  /**
   * The account that the actor is limited to. Rows of other accounts are not found. Operators have no limit.
   */
  readonly accountId?: string;
  /** null for a command. */
  readonly address: string | null;
  readonly at: Instant;
}

/** The operator, who may run the command. */
export function operator(at: Instant = toInstant(new Date())): Actor {
  return { name: 'operator', address: null, at };
}

export interface AuditEntry {
  readonly seq: number;
  readonly at: Instant;
  readonly actor: string;
  readonly action: AuditAction;
  readonly key_name: string;
  readonly key_prefix: string;
  readonly address: string | null;
}

interface KeyOfAccount {
  readonly account_id: string;
  readonly name: string;
  readonly prefix: string;
}

/** Records a change of a key, in the transaction that makes it. */
export async function insertAudit(
  tx: Tx,
  by: Actor,
  { action, key }: { action: AuditAction; key: KeyOfAccount },
): Promise<void> {
  await tx
    .insertInto('audit')
    .values({
      account_id: key.account_id,
      at: by.at,
      actor: by.name,
      action,
      key_name: key.name,
      key_prefix: key.prefix,
      address: by.address,
    })
    .execute();
}

/** The changes of an account's keys, latest first; those before `before` (a `seq`) when it is given. */
export function listAudit(
  db: Db,
  accountId: string,
  { limit, before = Number.MAX_SAFE_INTEGER }: { limit: number; before?: number | undefined },
): Promise<AuditEntry[]> {
  return db
    .selectFrom('audit')
    .select(['seq', 'at', 'actor', 'action', 'key_name', 'key_prefix', 'address'])
    .where('account_id', '=', accountId)
    .where('seq', '<', before)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
}
