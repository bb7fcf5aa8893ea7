import type { AuditAction } from '../../domain/access/audit-actions.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { insertEventFor, insertEvents } from './events.ts';

/** What the person is told to whom it was done. */
const TOLD: ReadonlySet<AuditAction> = new Set([
  ...(['person_invited', 'person_link_made', 'person_role_changed', 'password_changed'] as const),
  ...(['second_factor_on', 'second_factor_off', 'second_factor_reset'] as const),
  ...(['recovery_codes_renewed', 'single_sign_on_bound'] as const),
] satisfies AuditAction[]);

/** The data of `person.changed` and `key.created`. */
export interface Notice {
  readonly action: AuditAction;
  readonly actor: string;
  readonly address: string | null;
  readonly subject: string;
  readonly detail: string;
}

/** Tells a person of what was done to their sign-in, and owners of a new key, where there is mail. */
export async function insertNotice(
  tx: Tx,
  { account_id: accountId, at, ...notice }: Notice & { account_id: string; at: Instant },
): Promise<void> {
  const event = { accountId, at, data: JSON.stringify(notice) };
  if (notice.action === 'key_created')
    return await insertEvents(tx, [{ ...event, type: 'key.created' }]);
  if (!TOLD.has(notice.action)) return;
  const receiver = await tx
    .selectFrom('person')
    .innerJoin('receiver', 'receiver.id', 'person.id')
    .select('receiver.id')
    .where(({ and }) => and({ email: notice.subject, enabled: 1 }))
    .where('person.account_id', '=', accountId)
    .executeTakeFirst();
  if (receiver !== undefined)
    await insertEventFor(tx, receiver.id, { ...event, type: 'person.changed' });
}
