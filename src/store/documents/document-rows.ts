import { sql } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { toBytes, toHex } from '../../domain/hex.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Original } from '../../domain/reports/original.ts';
import type { Queries, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { prepareRows, type RowOf } from '../engine/many-rows.ts';
import { type Param, prepareQuery, runAllPrepared } from '../engine/prepared.ts';
import type { Tables } from '../tables.ts';

/** File names come from outside and can have any length. */
const MAX_NAME_CHARS = 1_000;
/** What one row has of an original: its bytes when it is small, as nearly all are. `originals.ts` stores the rest. */
export const ORIGINAL_PART_BYTES = 1024 * 1024;

/** The whole hash took 40 bytes more a report, with its index. */
const INPUT_HASH_BYTES = 16;

/** Where a document came in. */
export interface DocumentPlace {
  readonly input: ReceivedInput;
  /** The part of the input: the same when the input comes in again. */
  readonly path: string;
  /** Names of the container members that it was found in, outermost first. */
  readonly member: readonly string[];
}

/** A file or a mail. */
export interface ReceivedInput {
  readonly name: string;
  /** The hash of its bytes, in hex. */
  readonly sha256: string;
  readonly size: number;
}

export type DocumentRow = Readonly<Omit<Tables['document'], 'seq'>>;

/** A row without an original only says that the document came. */
export function toDocumentRow(
  { input, path, member }: DocumentPlace,
  receivedAt: Instant,
  original: Original | null,
): DocumentRow {
  return {
    input_sha256: toInputHash(input.sha256),
    path,
    input_name: input.name.slice(0, MAX_NAME_CHARS),
    input_bytes: input.size,
    member: member.length === 0 ? null : member.join(' > '),
    received_at: receivedAt,
    encoding: original?.encoding === 'zstd' ? 'zstd' : null,
    content_bytes: original?.size ?? null,
    content: original?.content.subarray(0, ORIGINAL_PART_BYTES) ?? null,
  };
}

/** The stored part of an input's SHA-256, or of that part itself. */
export function toInputHash(sha256: string): Uint8Array {
  return toBytes(sha256).subarray(0, INPUT_HASH_BYTES);
}

/** A document's number, and whether it came in before. */
export type StoredDocument = { readonly seq: number; readonly isKnown: boolean };

/**
 * Stores each document once, however often it comes in, and returns one for each row. Content is added, not changed. Rows
 * that are not `kept` are not stored, only found when they came in before.
 */
export async function insertDocuments(
  tx: Tx,
  rows: readonly DocumentRow[],
  kept: ReadonlySet<DocumentRow> = new Set(rows),
): Promise<(StoredDocument | undefined)[]> {
  const firsts = toFirsts(rows.filter((row) => kept.has(row)));
  const inserted = toSeqs(await runAllPrepared(tx, documentInserts([...firsts.values()])));
  // The others are stored already. When another process is storing them, the insertion has waited for its commit.
  const others = [...toFirsts(rows).values()].filter((row) => !inserted.has(toKey(row)));
  const known = toSeqs(await runAllPrepared(tx, knownDocuments(others)));
  const stored = rows.map((row) => {
    const key = toKey(row);
    const seq = inserted.get(key) ?? known.get(key) ?? null;
    if (seq !== null) return { seq, isKnown: firsts.get(key) !== row || known.has(key) };
    if (kept.has(row)) throw new Error('A document was neither inserted nor found.');
    return undefined;
  });
  const added = rows.filter(({ content }, i) => content !== null && stored[i]?.isKnown);
  await runAllPrepared(tx, added.map(contentUpdate));
  return stored;
}

type DocumentKey = Pick<DocumentRow, 'input_sha256' | 'path'>;

const toKey = ({ input_sha256, path }: DocumentKey): string => `${toHex(input_sha256)} ${path}`;

/**
 * The first row of each document, ordered by size and key: on PostgreSQL an insertion waits for the end of a transaction
 * that has inserted the same document, so all insert a group in one order. Transactions with several groups can still
 * deadlock; the database then ends one, and it runs again. By size, because small rows among large ones leave more of a
 * page free.
 */
function toFirsts(rows: readonly DocumentRow[]): Map<string, DocumentRow> {
  const byKey = Map.groupBy(rows, toKey);
  const firsts = [...byKey].map(([key, [first]]) => [key, first as DocumentRow] as const);
  return new Map(
    firsts.sort(([a, one], [b, other]) => toSize(one) - toSize(other) || (a < b ? -1 : 1)),
  );
}

const toSize = ({ content }: DocumentRow): number => content?.length ?? 0;

type StoredRow = DocumentKey & { readonly seq: number };

function toSeqs(results: readonly (readonly StoredRow[])[]): Map<string, number> {
  return new Map(results.flat().map((row) => [toKey(row), row.seq]));
}

const documentInserts = prepareRows(
  [
    'input_sha256',
    'path',
    'input_name',
    'input_bytes',
    'member',
    'received_at',
    'encoding',
    'content_bytes',
    'content',
  ],
  (db, rows: readonly RowOf<DocumentRow>[]) =>
    db
      .insertInto('document')
      .values(rows)
      .onConflict((oc) => oc.columns(['input_sha256', 'path']).doNothing())
      .returning(['input_sha256', 'path', 'seq']),
);

/** A subquery looks up each key, for the reason given at `knownReports` (report-rows.ts). */
const knownDocuments = prepareRows(
  ['input_sha256', 'path'],
  (db, rows: readonly RowOf<DocumentKey>[]) =>
    db
      .with('key(input_sha256, path)', () => {
        const { typed } = dialectOf(db);
        const tuples = rows.map(
          ({ input_sha256, path }) => sql`(${typed(input_sha256, 'bytea')}, ${path})`,
        );
        return sql<DocumentKey>`(values ${sql.join(tuples)})`;
      })
      .selectFrom('key')
      .select(['key.input_sha256', 'key.path'])
      .select((eb) =>
        eb
          .selectFrom('document')
          .select('document.seq')
          .whereRef('document.input_sha256', '=', 'key.input_sha256')
          .whereRef('document.path', '=', 'key.path')
          .$asScalar()
          .$notNull()
          .as('seq'),
      ),
);

/** A document of which only was stored that it came, and whose original is wanted now; not one that went by age. */
const contentUpdate = prepareQuery((db, param: Param<DocumentRow>) =>
  db
    .updateTable('document')
    .set({
      member: param('member'),
      encoding: param('encoding'),
      content_bytes: param('content_bytes'),
      content: param('content'),
    })
    .where('input_sha256', '=', param('input_sha256'))
    .where('path', '=', param('path'))
    .where('content_bytes', 'is', null),
);

export type KnownDocument = DocumentPlace & { readonly seq: number; readonly receivedAt: Instant };

/** Throws `not_found`. */
export async function findDocument(db: Queries, seq: number): Promise<KnownDocument> {
  const row = await db
    .selectFrom('document')
    .select(['path', 'input_sha256', 'input_name', 'input_bytes', 'member', 'received_at'])
    .where('seq', '=', seq)
    .executeTakeFirstOrThrow(() => new Failure('not_found', `No document has the number ${seq}.`));
  const { path, input_sha256, input_name: name, input_bytes, member } = row;
  return {
    seq,
    path,
    receivedAt: row.received_at,
    input: { name, sha256: toHex(input_sha256), size: input_bytes },
    member: member === null ? [] : [member],
  };
}

export type DocumentName = { readonly input: string; readonly member: string | null };

const UNNAMED: DocumentName = { input: '', member: null };

export async function findDocumentNames(
  db: Queries,
  seqs: readonly number[],
): Promise<(seq: number) => DocumentName> {
  const isOne = dialectOf(db).isIn(sql.ref('seq'), sql.val(JSON.stringify(seqs)), 'bigint');
  const documents = db.selectFrom('document').select(['seq', 'input_name as input', 'member']);
  const rows = await documents.where(isOne).execute();
  const names = new Map(rows.map(({ seq, ...name }) => [seq, name]));
  return (seq) => names.get(seq) ?? UNNAMED;
}
