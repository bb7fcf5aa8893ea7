import type { Day, Instant } from '../../domain/instant.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import type { Report } from '../../domain/reports/report.ts';
import type { Db, Queries } from '../engine/database.ts';
import { type BoundQuery, type Param, prepareQuery } from '../engine/prepared.ts';
import type { NoteGone } from '../work/gone.ts';
import { type DocumentPlace, type StoredDocument, toInputHash } from './document-rows.ts';
import { deleteDocuments } from './originals.ts';
import { measureDocuments, toStoredBytes } from './stored-bytes.ts';

type NewRejection = Pick<Refusal, 'reason' | 'message' | 'where'> & {
  readonly documentSeq: number;
};

/** What a document changes that was stored; nothing for one of which no row is kept. */
export function toRejectionChange(
  stored: StoredDocument | undefined,
  content: Report | Refusal | undefined,
): BoundQuery<unknown>[] {
  if (stored === undefined) return [];
  const { seq: documentSeq, isKnown } = stored;
  if (content instanceof Refusal) {
    const { reason, message, where } = content;
    return [rejectionUpsert({ documentSeq, reason, message, where })];
  }
  return isKnown ? [rejectionDelete({ documentSeq })] : [];
}

/** A rejection of the same bytes is stored once, with the reason that was found last. */
const rejectionUpsert = prepareQuery((db, param: Param<NewRejection>) =>
  db
    .insertInto('rejection')
    .values({
      document_seq: param('documentSeq'),
      reason: param('reason'),
      message: param('message'),
      place: param('where'),
    })
    .onConflict((oc) =>
      oc.column('document_seq').doUpdateSet((eb) => ({
        reason: eb.ref('excluded.reason'),
        message: eb.ref('excluded.message'),
        place: eb.ref('excluded.place'),
      })),
    ),
);

/** A document that is read again, with a better parser or more memory, may be a report now. */
const rejectionDelete = prepareQuery((db, param: Param<{ documentSeq: number }>) =>
  db.deleteFrom('rejection').where('document_seq', '=', param('documentSeq')),
);

/** How many there are for each reason. */
export async function countRejections(db: Queries): Promise<[reason: string, count: number][]> {
  const counted = db.selectFrom('rejection').groupBy('reason').select('reason');
  const rows = await counted.select(({ fn }) => fn.countAll<number>().as('count')).execute();
  return rows.map(({ reason, count }) => [reason, Number(count)]);
}

const REJECTIONS_AT_ONCE = 500;

/** Deletes the rejections of an input, or of a part of it, except at the paths where reading it again found one. */
export async function deleteOtherRejections(
  db: Db,
  { input, path }: Pick<DocumentPlace, 'input' | 'path'>,
  rejected: ReadonlySet<string>,
): Promise<void> {
  const known = await db
    .selectFrom('rejection')
    .innerJoin('document', 'document.seq', 'rejection.document_seq')
    .select(['document.seq', 'document.path'])
    .where('input_sha256', '=', toInputHash(input.sha256))
    .execute();
  const others = known
    .filter((one) => isWithin(one.path, path) && !rejected.has(one.path))
    .map(({ seq }) => seq);
  for (let from = 0; from < others.length; from += REJECTIONS_AT_ONCE) {
    const some = others.slice(from, from + REJECTIONS_AT_ONCE);
    await db.write((tx) => tx.deleteFrom('rejection').where('document_seq', 'in', some).execute());
  }
}

const isWithin = (path: string, part: string): boolean =>
  part === '' || path === part || path.startsWith(`${part}.`);

interface Bounds {
  readonly bytes: number;
  /** What came in earlier goes. */
  readonly before: Instant | Day;
  readonly mayGoOn: () => Promise<boolean>;
  readonly noteGone?: NoteGone | undefined;
}

/** Deletes rejections with their documents, the oldest first, until the bounds are kept. */
export async function trimRejections(db: Db, bounds: Bounds): Promise<void> {
  const last = await findLastExcess(db, bounds);
  if (last === undefined) return;
  const rejections = db.selectFrom('rejection').select('document_seq as seq');
  while (await bounds.mayGoOn()) {
    const some = rejections
      .where('document_seq', '<=', last)
      .orderBy('document_seq')
      .limit(TRIMMED_AT_ONCE);
    const seqs = (await some.execute()).map(({ seq }) => seq);
    if (seqs.length === 0) return;
    await db.write((tx) => deleteDocuments(tx, seqs));
    bounds.noteGone?.('rejections', seqs.length);
  }
}

/** An original has no more than 128 MiB, and nearly all have less than one. */
const TRIMMED_AT_ONCE = 10;

/** The newest rejection that is too old, or with which all newer ones have too many bytes. */
async function findLastExcess(db: Db, { bytes, before, mayGoOn }: Bounds) {
  let sum = 0;
  for (let below = Number.MAX_SAFE_INTEGER; await mayGoOn(); ) {
    const rows = await db
      .selectFrom('rejection')
      .innerJoin('document', 'document.seq', 'rejection.document_seq')
      .select(['document.seq', 'received_at'])
      .where('document_seq', '<', below)
      .orderBy('document_seq', 'desc')
      .limit(REJECTIONS_AT_ONCE)
      .execute();
    if (rows.length === 0) return undefined;
    const seqs = rows.map(({ seq }) => seq);
    const sizes = await measureDocuments(db, seqs);
    for (const { seq, received_at } of rows) {
      sum += toStoredBytes(0, sizes.get(seq));
      if (sum > bytes || received_at < before) return seq;
      below = seq;
    }
  }
  return undefined;
}
