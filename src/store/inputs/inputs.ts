import type { Instant } from '../../domain/instant.ts';
import type { DocumentId, ListedFilter } from '../documents/document-list.ts';
import {
  findStoredConflict,
  findStoredRejection,
  findStoredReport,
} from '../documents/document-list.ts';
import type { Db, Queries } from '../engine/database.ts';

/* Stored inputs that are read again, because a newer parser may find more in them. */

export interface StoredInput {
  readonly seq: number;
  readonly name: string;
  readonly receivedAt: Instant;
}

/** Inputs in one query. */
const INPUTS_AT_ONCE = 100;

/** The inputs of rejections and conflicts, as they came in. They are listed while earlier ones are read again. */
export async function* listInputs(
  db: Db,
  filter: Omit<ListedFilter, 'limit'>,
): AsyncGenerator<StoredInput> {
  let after = 0;
  for (;;) {
    const inputs = await listSome(db, filter, after);
    yield* inputs;
    const last = inputs.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

async function listSome(
  db: Db,
  { outcome, reason, since = '' }: Omit<ListedFilter, 'limit'>,
  after: number,
): Promise<StoredInput[]> {
  const rejected = db
    .selectFrom('rejection')
    .select('source_seq')
    .where('received_at', '>=', since)
    .$if(reason !== undefined, (query) => query.where('reason', '=', reason as string));
  const conflicts = db
    .selectFrom('conflict')
    .select('source_seq')
    .where('received_at', '>=', since);
  const hasConflicts = outcome !== 'rejected' && reason === undefined;
  const hasRejected = outcome !== 'conflict';
  return await db
    .selectFrom('source')
    .select(['seq', 'name', 'received_at as receivedAt'])
    .where('seq', '>', after)
    .where((eb) =>
      eb.or([
        ...(hasRejected ? [eb('seq', 'in', rejected)] : []),
        ...(hasConflicts ? [eb('seq', 'in', conflicts)] : []),
      ]),
    )
    .orderBy('seq')
    .limit(INPUTS_AT_ONCE)
    .execute();
}

/** The input that a document was found in. Throws `not_found`. */
export async function findInputOf(db: Db, id: DocumentId): Promise<StoredInput> {
  const { source_seq } = await findPlace(db, id);
  return await db
    .selectFrom('source')
    .select(['seq', 'name', 'received_at as receivedAt'])
    .where('seq', '=', source_seq)
    .executeTakeFirstOrThrow();
}

function findPlace(db: Db, id: DocumentId): Promise<{ source_seq: number }> {
  if (id.kind === 'report') return findStoredReport(db, id.id);
  return id.kind === 'conflict' ? findStoredConflict(db, id.seq) : findStoredRejection(db, id.seq);
}

/** Rows in one transaction. */
const REJECTIONS_AT_ONCE = 500;

/** Deletes the rejections of an input at positions where reading it again found no rejection. */
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

/** The input with these bytes, if it is stored. */
export async function findInputBySha256(
  db: Queries,
  sha256: string,
): Promise<StoredInput | undefined> {
  return await db
    .selectFrom('source')
    .select(['seq', 'name', 'received_at as receivedAt'])
    .where('sha256', '=', sha256)
    .executeTakeFirst();
}
