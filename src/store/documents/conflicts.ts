import type { Tx } from '../engine/database.ts';
import type { Tables } from '../tables.ts';

/** The row of a report that was not inserted, because a stored report has its id. */
type OtherReport = Pick<
  Tables['report'],
  'domain_id' | 'id' | 'source_seq' | 'member' | 'payload_sha256' | 'received_at'
>;

/** `storedSha256` is the hash of the report's content. The same content again is a duplicate and changes nothing. */
export async function insertConflict(
  tx: Tx,
  { domain_id, id, source_seq, member, payload_sha256, received_at }: OtherReport,
  storedSha256: string | undefined,
): Promise<'duplicate' | 'conflict'> {
  if (storedSha256 === payload_sha256) return 'duplicate';
  const { seq } = await tx
    .selectFrom('report')
    .select('seq')
    .where('domain_id', '=', domain_id)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const key = { domain_id, report_seq: seq, payload_sha256 };
  const inserted = await tx
    .insertInto('conflict')
    .values({ ...key, source_seq, member, received_at })
    .onConflict((oc) => oc.doNothing())
    .returning('seq')
    .executeTakeFirst();
  if (inserted === undefined) await requireConflict(tx, key);
  return 'conflict';
}

type ConflictKey = Pick<Tables['conflict'], 'domain_id' | 'report_seq' | 'payload_sha256'>;

/** Throws when the conflict is not stored: its insertion then failed for another reason than that it existed. */
async function requireConflict(tx: Tx, key: ConflictKey): Promise<void> {
  const conflicts = tx.selectFrom('conflict').select('seq');
  await conflicts.where(({ and }) => and(key)).executeTakeFirstOrThrow();
}
