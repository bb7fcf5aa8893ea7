import type { AuditAction } from '../../domain/access/audit-actions.ts';
import type { EventType } from '../../domain/events.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Tx } from '../engine/database.ts';
import { insertEventFor, insertEvents, isTold } from './events.ts';

/** What the person is told to whom it was done. */
const TOLD: ReadonlySet<AuditAction> = new Set([
  'person_invited',
  'person_link_made',
  'person_role_changed',
  'password_changed',
  'second_factor_on',
  'second_factor_off',
  'second_factor_reset',
  'recovery_codes_renewed',
  'single_sign_on_bound',
]);

const OF_OWNERS: Partial<Record<AuditAction, EventType>> = {
  key_created: 'key.created',
  reporter_new: 'reporter.new',
  deletion_asked: 'account.deletion',
  deletion_taken_back: 'account.deletion',
};

/** The data of `person.changed`, and of what owners are told. */
export interface Notice {
  readonly action: AuditAction;
  readonly actor: string;
  readonly address: string | null;
  readonly subject: string;
  readonly detail: string;
}

/** Tells a person of what was done to their sign-in, and owners of what concerns the account, where there is mail. */
export async function insertNotice(
  tx: Tx,
  { account_id: accountId, at, ...notice }: Notice & { account_id: string; at: Instant },
): Promise<void> {
  const event = { accountId, at, data: JSON.stringify(notice) };
  const ofOwners = OF_OWNERS[notice.action];
  if (ofOwners !== undefined) return await insertEvents(tx, [{ ...event, type: ofOwners }]);
  if (!TOLD.has(notice.action)) return;
  const receiver = await tx
    .selectFrom('person')
    .innerJoin('receiver', 'receiver.id', 'person.id')
    .select('receiver.id')
    .where(({ and }) => and({ email: notice.subject, 'person.account_id': accountId }))
    .where(isTold)
    .executeTakeFirst();
  if (receiver !== undefined)
    await insertEventFor(tx, receiver.id, { ...event, type: 'person.changed' });
}
