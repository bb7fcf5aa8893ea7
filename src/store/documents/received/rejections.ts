import type { Instant } from '../../../domain/instant.ts';
import type { Refusal } from '../../../domain/reports/refusal.ts';
import { prepareQuery } from '../../engine/prepared.ts';

/** The place of a document that has no report, or that may have had none when its input came in before. */
export type Place = { readonly inputSeq: number; readonly ordinal: number };

type NewRejection = Place & {
  readonly member: string | null;
  readonly reason: string;
  readonly message: string;
  readonly where: string | null;
  readonly receivedAt: Instant;
};

/** The row of a document without a report. */
export function toRejection(
  { reason, message, where }: Refusal,
  at: Omit<NewRejection, 'reason' | 'message' | 'where'>,
): NewRejection {
  return { ...at, reason, message, where };
}

/** A rejection of the same bytes is stored once, with the reason that was found last. */
export const rejectionUpsert = prepareQuery<NewRejection, never>((db, param) =>
  db
    .insertInto('rejection')
    .values({
      source_seq: param('inputSeq'),
      ordinal: param('ordinal'),
      member: param('member'),
      reason: param('reason') as never,
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
export const rejectionDelete = prepareQuery<Place, never>((db, param) =>
  db
    .deleteFrom('rejection')
    .where('source_seq', '=', param('inputSeq'))
    .where('ordinal', '=', param('ordinal')),
);
