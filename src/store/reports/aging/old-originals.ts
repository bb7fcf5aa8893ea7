import { ignoreNotFound } from '../../../domain/failure.ts';
import { BEGIN_OF_TIME, type Day } from '../../../domain/instant.ts';
import { deleteOriginals } from '../../documents/originals.ts';
import { measureDocuments, takeSome } from '../../documents/stored-bytes.ts';
import type { Db, Queries, Tx } from '../../engine/database.ts';
import { lockDomain } from '../../lists/heads.ts';
import { lockConflict } from '../locking.ts';
import { type Amount, addUp, listDomainsWithReports, type Retention } from './old-reports.ts';

/*
 * The bytes in which reports of accounts' domains came go by age, in the order in which the reports came: up to
 * `originals_seq` they have gone. Reports stay, with their records.
 */

/** In one transaction. */
const ORIGINALS_AT_ONCE = 200;

/** Originals that came in on the days before go. */
type Bounds = Omit<Retention, 'daysKept'>;

/** With their bytes as they were stored. Doing it twice does no harm. */
export async function pruneOriginals(db: Db, { before, mayGoOn }: Bounds): Promise<Amount> {
  const ofReports = await addUp(listDomainsWithReports(db), mayGoOn, (domainId) =>
    db.write((tx) => deleteSome(tx, domainId, before)),
  );
  const ofConflicts = await addUp(listOldConflicts(db, before), mayGoOn, async (seqs) => {
    const seq = seqs.shift();
    return seq === undefined ? undefined : await db.write((tx) => deleteOfConflict(tx, seq));
  });
  return {
    count: ofReports.count + ofConflicts.count,
    bytes: ofReports.bytes + ofConflicts.bytes,
  };
}

/** What would go, without those of conflicts. */
export function measureOldOriginals(db: Db, { before, mayGoOn }: Bounds): Promise<Amount> {
  return addUp(listPlaces(db), mayGoOn, async (place) => {
    const old = await listOld(db, { ...place, before });
    place.after = old.at(-1)?.seq ?? place.after;
    return toAmount(old);
  });
}

/** Where those begin that have their original. */
async function* listPlaces(db: Db) {
  for await (const domainId of listDomainsWithReports(db))
    yield { domainId, after: await findLastSeq(db, domainId) };
}

/** The document of a report or a conflict. */
interface OldOriginal {
  readonly documentSeq: number;
  /** 0 when it has no original. */
  readonly bytes: number;
}

function toAmount(some: readonly OldOriginal[]): Amount | undefined {
  if (some.length === 0) return undefined;
  return {
    count: some.filter(({ bytes }) => bytes > 0).length,
    bytes: some.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

async function deleteSome(tx: Tx, domainId: string, before: Day): Promise<Amount | undefined> {
  await lockDomain(tx, domainId);
  const after = await findLastSeq(tx, domainId);
  const some = takeSome(await listOld(tx, { domainId, after, before }));
  const last = some.at(-1);
  if (last === undefined) return undefined;
  const seqs = some.map(({ documentSeq }) => documentSeq);
  await deleteOriginals(tx, seqs);
  const domain = tx.updateTable('domain').set({ originals_seq: last.seq });
  await domain.where('id', '=', domainId).execute();
  return toAmount(some);
}

async function findLastSeq(db: Queries, domainId: string): Promise<number> {
  const domain = db.selectFrom('domain').select('originals_seq').where('id', '=', domainId);
  return Number((await domain.executeTakeFirst())?.originals_seq ?? 0);
}

/** A correction gives a report another number: its original goes when those that came before it are old. */
async function listOld(
  db: Queries,
  { domainId, after, before }: { domainId: string; after: number; before: Day },
) {
  const rows = await db
    .selectFrom('report')
    .select(['seq', 'document_seq as documentSeq', 'received_at as receivedAt'])
    .where('domain_id', '=', domainId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(ORIGINALS_AT_ONCE)
    .execute();
  const end = rows.findIndex(({ receivedAt }) => receivedAt >= before);
  const old = end === -1 ? rows : rows.slice(0, end);
  const seqs = old.map(({ documentSeq }) => documentSeq);
  const sizes = await measureDocuments(db, seqs);
  return old.map((row) => ({ ...row, bytes: sizes.get(row.documentSeq) ?? 0 }));
}

/** The numbers of conflicts with originals. They are few, and may come long after their reports: all are looked at. */
async function* listOldConflicts(db: Db, before: Day): AsyncGenerator<number[]> {
  let last = { received_at: BEGIN_OF_TIME, seq: 0 };
  for (;;) {
    const rows = await db
      .selectFrom('conflict')
      .select(['seq', 'received_at', 'document_seq as documentSeq'])
      .where('received_at', '<', before)
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('received_at', 'seq'), '>', tuple(last.received_at, last.seq)),
      )
      .orderBy('received_at')
      .orderBy('seq')
      .limit(ORIGINALS_AT_ONCE)
      .execute();
    if (rows.length === 0) return;
    const seqs = rows.map(({ documentSeq }) => documentSeq);
    const sizes = await measureDocuments(db, seqs);
    const old = rows.filter(({ documentSeq }) => (sizes.get(documentSeq) ?? 0) > 0);
    yield old.map((row) => row.seq);
    last = rows.at(-1) ?? last;
  }
}

/** None when it has gone meanwhile. */
async function deleteOfConflict(tx: Tx, seq: number): Promise<Amount> {
  const locked = await lockConflict(tx, seq).catch(ignoreNotFound);
  if (locked === undefined) return { count: 0, bytes: 0 };
  const { document_seq } = locked.conflict;
  const bytes = (await measureDocuments(tx, [document_seq])).get(document_seq) ?? 0;
  await deleteOriginals(tx, [document_seq]);
  return { count: bytes > 0 ? 1 : 0, bytes };
}
