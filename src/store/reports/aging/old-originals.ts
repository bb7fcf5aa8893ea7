import { ignoreNotFound } from '../../../domain/failure.ts';
import { BEGIN_OF_TIME, type Day, toDay } from '../../../domain/instant.ts';
import { deleteOriginals } from '../../documents/originals.ts';
import { measureDocuments, ORIGINAL_BYTES, takeSome } from '../../documents/stored-bytes.ts';
import type { Db, Queries, Tx } from '../../engine/database.ts';
import { isOfDomain, lockDomain } from '../../lists/heads.ts';
import { lockConflict } from '../locking.ts';
import { type Amount, listDomainsWithReports, type Retention, runSteps } from './old-reports.ts';

/*
 * The bytes in which reports of accounts' domains came go by the day on which the report's window begins. Those of the days
 * before `originals_day` have gone, but for reports that came since, whose numbers are above `originals_seq`. Reports stay,
 * with their records.
 */

/** In one transaction. */
const ORIGINALS_AT_ONCE = 200;

/** With their bytes as they were stored. Doing it twice does no harm. */
export async function pruneOriginals(db: Db, { before, mayGoOn }: Retention): Promise<Amount> {
  const ofReports = await runSteps(listDomainsWithReports(db), mayGoOn, (domainId) =>
    db.write((tx) => deleteSome(tx, domainId, before)),
  );
  const ofConflicts = await runSteps(listOldConflicts(db, before), mayGoOn, async (seqs) => {
    const seq = seqs.shift();
    return seq === undefined ? undefined : await db.write((tx) => deleteOfConflict(tx, seq));
  });
  return {
    count: ofReports.count + ofConflicts.count,
    bytes: ofReports.bytes + ofConflicts.bytes,
  };
}

/** What would go, without those of conflicts. */
export async function measureOldOriginals(db: Db, { before }: Retention): Promise<Amount> {
  let [count, bytes] = [0, 0];
  for await (const domainId of listDomainsWithReports(db)) {
    const old = selectOriginals(db, domainId).where('begin_date', '<', before).as('old');
    const sums = db
      .selectFrom(old)
      .select(({ fn }) => [fn.countAll().as('count'), fn.sum('bytes').as('bytes')]);
    const found = await sums.executeTakeFirst();
    count += Number(found?.count ?? 0);
    bytes += Number(found?.bytes ?? 0);
  }
  return { count, bytes };
}

/** Reports of a domain that have their original. */
function selectOriginals(db: Queries, domainId: string) {
  return db
    .selectFrom('report')
    .innerJoin('document', 'document.seq', 'report.document_seq')
    .select(['report.seq', 'begin_date', 'document_seq as documentSeq', ORIGINAL_BYTES.as('bytes')])
    .where(isOfDomain(domainId))
    .where('document.content', 'is not', null);
}

async function deleteSome(tx: Tx, domainId: string, before: Day): Promise<Amount | undefined> {
  await lockDomain(tx, domainId);
  const reached = await findReached(tx, domainId);
  const some = takeSome(await listOld(tx, { domainId, before, ...reached }));
  const [first] = some;
  if (first === undefined) {
    if (reached.day < before) await updateReached(tx, domainId, before);
    return undefined;
  }
  await deleteOriginals(
    tx,
    some.map(({ documentSeq }) => documentSeq),
  );
  const day = toDay(first.begin_date);
  // Else each transaction would look again for originals in all days that have none any more.
  if (day > reached.day)
    await tx.updateTable('domain').set({ originals_day: day }).where('id', '=', domainId).execute();
  return { count: some.length, bytes: some.reduce((sum, { bytes }) => sum + Number(bytes), 0) };
}

async function findReached(tx: Tx, domainId: string): Promise<{ day: Day; seq: number }> {
  const { originals_day, originals_seq } = await tx
    .selectFrom('domain')
    .select(['originals_day', 'originals_seq'])
    .where('id', '=', domainId)
    .executeTakeFirstOrThrow();
  return { day: originals_day ?? toDay(BEGIN_OF_TIME), seq: Number(originals_seq) };
}

async function updateReached(tx: Tx, domainId: string, before: Day): Promise<void> {
  const newest = tx.selectFrom('report').where(isOfDomain(domainId)).orderBy('seq', 'desc');
  const last = await newest.select('seq').limit(1).executeTakeFirst();
  const reached = { originals_day: before, originals_seq: last?.seq ?? 0 };
  await tx.updateTable('domain').set(reached).where('id', '=', domainId).execute();
}

/** The oldest first; then those of reports that came later than others of their day. */
async function listOld(
  tx: Tx,
  { domainId, before, day, seq }: { domainId: string; before: Day; day: Day; seq: number },
) {
  const some = selectOriginals(tx, domainId).limit(ORIGINALS_AT_ONCE);
  const aged = some.where('begin_date', '>=', day).where('begin_date', '<', before);
  const old = await aged.orderBy('begin_date').orderBy('report.seq').execute();
  if (old.length > 0) return old;
  const late = some.where('report.seq', '>', seq).where('begin_date', '<', day);
  return await late.orderBy('report.seq').execute();
}

/** The numbers of conflicts with originals. They are few, and may come long after their reports: all are looked at. */
async function* listOldConflicts(db: Db, before: Day): AsyncGenerator<number[]> {
  let last = { received_at: BEGIN_OF_TIME, seq: 0 };
  for (;;) {
    const rows = await db
      .selectFrom('conflict')
      .select(['seq', 'received_at', 'document_seq as documentSeq'])
      .where('begin_date', '<', before)
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
