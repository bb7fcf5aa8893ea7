import { type Selectable, sql } from 'kysely';
import type { Queries } from '../engine/database.ts';
import type { Tables } from '../tables.ts';

/* How much space reports take: their contents, their originals, and what rows and indexes add. */

export const ROW_BYTES = 2048;

export function toStoredBytes(content: number, original = 0): number {
  return ROW_BYTES + content + original;
}

/** What is stored of a report: its documents and those of its conflicts, and the bytes of all of them. */
export interface Measured<Row> {
  readonly report: Row;
  readonly documents: readonly number[];
  readonly bytes: number;
}

/** Reports of one domain, with their conflicts. */
export async function measureReports<
  Row extends Pick<Selectable<Tables['report']>, 'id' | 'domain_seq' | 'document_seq' | 'content'>,
>(db: Queries, reports: readonly Row[]): Promise<Measured<Row>[]> {
  const [first] = reports;
  if (first === undefined) return [];
  const ids = reports.map(({ id }) => id);
  const conflicts = await db
    .selectFrom('conflict')
    .select(['report_id', 'document_seq', sql<number>`length(parsed)`.as('bytes')])
    .where('domain_seq', '=', first.domain_seq)
    .where('report_id', 'in', ids)
    .execute();
  const seqs = [...reports, ...conflicts].map(({ document_seq }) => document_seq);
  const originals = await measureDocuments(db, seqs);
  return reports.map((report) => {
    const own = { document_seq: report.document_seq, bytes: report.content.length };
    const all = [own, ...conflicts.filter(({ report_id }) => report_id === report.id)];
    const sizes = all.map(({ document_seq, bytes }) =>
      toStoredBytes(bytes, originals.get(document_seq)),
    );
    const documents = all.map(({ document_seq }) => document_seq);
    return { report, documents, bytes: sizes.reduce((sum, size) => sum + size) };
  });
}

const BYTES_AT_ONCE = 32 * 1024 * 1024;

/** The first ones that one transaction deletes, and always one. */
export function takeSome<One extends { readonly bytes: number }>(all: readonly One[]) {
  let sum = 0;
  const end = all.findIndex(({ bytes }) => {
    sum += bytes;
    return sum > BYTES_AT_ONCE;
  });
  return end === -1 ? all : all.slice(0, Math.max(1, end));
}

export const ORIGINAL_BYTES = sql<number>`coalesce(length(document.content), 0)
  + coalesce((select sum(length(document_part.content)) from document_part
    where document_part.document_seq = document.seq), 0)`;

/** The bytes of originals, by the numbers of their documents. */
export async function measureDocuments(db: Queries, seqs: readonly number[]) {
  if (seqs.length === 0) return new Map<number, number>();
  const measured = db.selectFrom('document').select(['seq', ORIGINAL_BYTES.as('bytes')]);
  const rows = await measured.where('seq', 'in', seqs).execute();
  return new Map(rows.map(({ seq, bytes }) => [seq, Number(bytes)]));
}
