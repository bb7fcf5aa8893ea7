import { ignoreNotFound } from '../../domain/failure.ts';
import { BEGIN_OF_TIME, type Day, toDay } from '../../domain/instant.ts';
import { lockDomain } from '../accounts/domains.ts';
import { lockConflict } from '../corrections/rows.ts';
import { receiptUpdate } from '../documents/arrival-counts.ts';
import { deleteOriginals } from '../documents/originals.ts';
import { measureDocuments, takeSome } from '../documents/stored-bytes.ts';
import type { Db, Queries, Tx } from '../engine/database.ts';
import { runAllPrepared } from '../engine/prepared.ts';
import { listDomainsWithReports, type Retention } from './old-reports.ts';

/*
 * The bytes in which reports of accounts' domains came go by age, in the order in which the reports came: up to
 * `originals_position` they have gone. Reports stay, with their records. What is subtracted later from a count (a removal,
 * a correction, pruning) needs no original: what one took is subtracted when it goes.
 */

/** In one transaction. */
const ORIGINALS_AT_ONCE = 200;

/** Originals that came in on the days before go. */
type Bounds = Omit<Retention, 'daysKept'>;

export interface PrunedOriginals {
  readonly originals: number;
  /** As they were stored. */
  readonly originalBytes: number;
}

/** Doing it twice does no harm. */
export async function pruneOriginals(
  db: Db,
  { before, mayGoOn }: Bounds,
): Promise<PrunedOriginals> {
  let sum: PrunedOriginals = { originals: 0, originalBytes: 0 };
  for await (const domainId of listDomainsWithReports(db)) {
    let some: readonly OldOriginal[] = [];
    do {
      if (!(await mayGoOn())) return sum;
      some = await db.write((tx) => deleteSome(tx, domainId, before));
      sum = addTo(sum, some);
    } while (some.length > 0);
  }
  return await pruneConflicts(db, { before, mayGoOn }, sum);
}

/** What would go, without those of conflicts. */
export async function measureOldOriginals(
  db: Db,
  { before, mayGoOn }: Bounds,
): Promise<PrunedOriginals> {
  let sum: PrunedOriginals = { originals: 0, originalBytes: 0 };
  for await (const domainId of listDomainsWithReports(db)) {
    let after = await findPosition(db, domainId);
    while (await mayGoOn()) {
      const old = await listOld(db, { domainId, after, before });
      const last = old.at(-1);
      if (last === undefined) break;
      sum = addTo(sum, old);
      after = last.position;
    }
  }
  return sum;
}

/** Of a report or a conflict. */
interface OldOriginal {
  readonly documentSeq: number;
  /** 0 when it has no original. */
  readonly bytes: number;
  readonly domainId: string;
  /** Of the report. */
  readonly receivedAt: string;
}

function addTo(sum: PrunedOriginals, some: readonly OldOriginal[]): PrunedOriginals {
  return {
    originals: sum.originals + some.filter(({ bytes }) => bytes > 0).length,
    originalBytes: some.reduce((all, { bytes }) => all + bytes, sum.originalBytes),
  };
}

async function deleteSome(tx: Tx, domainId: string, before: Day): Promise<readonly OldOriginal[]> {
  await lockDomain(tx, domainId);
  const after = await findPosition(tx, domainId);
  const some = takeSome(await listOld(tx, { domainId, after, before }));
  const last = some.at(-1);
  if (last === undefined) return [];
  await deleteAll(tx, some);
  const domain = tx.updateTable('domain').set({ originals_position: last.position });
  await domain.where('id', '=', domainId).execute();
  return some;
}

async function findPosition(db: Queries, domainId: string): Promise<number> {
  const domain = db.selectFrom('domain').select('originals_position').where('id', '=', domainId);
  return Number((await domain.executeTakeFirst())?.originals_position ?? 0);
}

/** A correction gives a report another position: its original goes when those that came before it are old. */
async function listOld(
  db: Queries,
  { domainId, after, before }: { domainId: string; after: number; before: Day },
) {
  const rows = await db
    .selectFrom('report')
    .select(['position', 'document_seq as documentSeq', 'received_at as receivedAt'])
    .where('domain_id', '=', domainId)
    .where('position', '>', after)
    .orderBy('position')
    .limit(ORIGINALS_AT_ONCE)
    .execute();
  const end = rows.findIndex(({ receivedAt }) => receivedAt >= before);
  const old = end === -1 ? rows : rows.slice(0, end);
  const sizes = await measureDocuments(
    db,
    old.map(({ documentSeq }) => documentSeq),
  );
  return old.map((row) => ({
    ...row,
    domainId,
    position: Number(row.position),
    bytes: sizes.get(row.documentSeq) ?? 0,
  }));
}

/** The bytes are counted where those of the report are, on the day on which it was received. */
async function deleteAll(tx: Tx, some: readonly OldOriginal[]): Promise<void> {
  await deleteOriginals(
    tx,
    some.map(({ documentSeq }) => documentSeq),
  );
  const byDay = Map.groupBy(some, ({ receivedAt }) => toDay(receivedAt));
  const updates = [...byDay]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, ones]) => {
      const bytes = -ones.reduce((sum, one) => sum + one.bytes, 0);
      return receiptUpdate({ domainId: ones[0]?.domainId ?? '', day, bytes });
    });
  await runAllPrepared(tx, updates);
}

/** Conflicts are few, and may come long after their reports: all old ones are looked at. */
async function pruneConflicts(
  db: Db,
  { before, mayGoOn }: Bounds,
  pruned: PrunedOriginals,
): Promise<PrunedOriginals> {
  let sum = pruned;
  for (let after = { received_at: BEGIN_OF_TIME, seq: 0 }; await mayGoOn(); ) {
    const rows = await db
      .selectFrom('conflict')
      .select(['seq', 'received_at', 'document_seq as documentSeq'])
      .where('received_at', '<', before)
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('received_at', 'seq'), '>', tuple(after.received_at, after.seq)),
      )
      .orderBy('received_at')
      .orderBy('seq')
      .limit(ORIGINALS_AT_ONCE)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) break;
    const sizes = await measureDocuments(
      db,
      rows.map(({ documentSeq }) => documentSeq),
    );
    for (const { seq, documentSeq } of rows)
      if ((sizes.get(documentSeq) ?? 0) > 0)
        sum = addTo(sum, await db.write((tx) => deleteOfConflict(tx, seq)));
    after = last;
  }
  return sum;
}

/** None when it has gone meanwhile. */
async function deleteOfConflict(tx: Tx, seq: number): Promise<readonly OldOriginal[]> {
  const locked = await lockConflict(tx, seq).catch(ignoreNotFound);
  if (locked === undefined) return [];
  const { domain_id: domainId, document_seq: documentSeq } = locked.conflict;
  const bytes = (await measureDocuments(tx, [documentSeq])).get(documentSeq) ?? 0;
  const old = [{ documentSeq, domainId, bytes, receivedAt: locked.report.received_at }];
  await deleteAll(tx, old);
  return old;
}
