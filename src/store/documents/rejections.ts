import type { Instant } from '../../domain/instant.ts';
import type { Refusal } from '../../domain/reports/refusal.ts';
import type { Db } from '../engine/database.ts';
import { prepareQuery } from '../engine/prepared.ts';

/** The key of a rejection: a document is found in an input by its position, from 0. */
type RejectionKey = { readonly inputSeq: number; readonly ordinal: number };

type NewRejection = RejectionKey &
  Pick<Refusal, 'reason' | 'message' | 'where'> & {
    readonly member: string | null;
    readonly receivedAt: Instant;
  };

/** A rejection of the same bytes is stored once, with the reason that was found last. */
export const rejectionUpsert = prepareQuery<NewRejection, never>((db, param) =>
  db
    .insertInto('rejection')
    .values({
      source_seq: param('inputSeq'),
      ordinal: param('ordinal'),
      member: param('member'),
      reason: param('reason'),
      message: param('message'),
      place: param('where'),
      received_at: param('receivedAt'),
    })
    .onConflict((oc) =>
      oc.columns(['source_seq', 'ordinal']).doUpdateSet((eb) => ({
        member: eb.ref('excluded.member'),
        reason: eb.ref('excluded.reason'),
        message: eb.ref('excluded.message'),
        place: eb.ref('excluded.place'),
      })),
    ),
);

/** An input that is read again, with a better parser or more memory, may now have a report at this position. */
export const rejectionDelete = prepareQuery<RejectionKey, never>((db, param) =>
  db
    .deleteFrom('rejection')
    .where('source_seq', '=', param('inputSeq'))
    .where('ordinal', '=', param('ordinal')),
);

const REJECTIONS_AT_ONCE = 500;

/** Deletes the rejections of an input, except at the positions where reading it again found one. */
export async function deleteOtherRejections(
  db: Db,
  inputSeq: number,
  rejected: ReadonlySet<number>,
): Promise<void> {
  const known = await db
    .selectFrom('rejection')
    .select(['seq', 'ordinal'])
    .where('source_seq', '=', inputSeq)
    .execute();
  const others = known.filter(({ ordinal }) => !rejected.has(ordinal)).map(({ seq }) => seq);
  for (let from = 0; from < others.length; from += REJECTIONS_AT_ONCE) {
    const some = others.slice(from, from + REJECTIONS_AT_ONCE);
    await db.write((tx) => tx.deleteFrom('rejection').where('seq', 'in', some).execute());
  }
}
