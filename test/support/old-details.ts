import { sql } from 'kysely';
import { ingest } from '../../src/intake/ingest.ts';
import { localParser } from '../../src/intake/parser/parser.ts';
import type { Db, Tx } from '../../src/store/engine/database.ts';
import { parseDetails } from '../../src/store/sources/days/details.ts';

/** Takes one file in. */
export async function ingestOne(
  db: Db,
  name: string,
  { bytes, receivedAt }: { bytes: string | Uint8Array; receivedAt: string },
): Promise<void> {
  async function* sources() {
    yield { name, read: async () => ({ name, bytes: Buffer.from(bytes) }) };
  }
  const given = { db, now: () => new Date(receivedAt), parser: localParser };
  await Array.fromAsync(ingest(given, sources()));
}

/** Leaves what an older version has stored, which kept no details. */
export async function forgetDetails(tx: Tx): Promise<void> {
  const none = { details: '', dkim_aligned: 0, spf_aligned: 0 };
  await tx.updateTable('domain_source_ip').set(none).execute();
  await tx.deleteFrom('source_text').execute();
  await sql`
    insert into undetailed_report (domain_id, day, report_seq, source_seq)
    select domain_id, substr(begin_date, 1, 10), seq, source_seq from report`.execute(tx);
}

/** What is stored of source addresses. */
export async function readDetails(db: Db) {
  const sources = db.selectFrom('domain_source_ip').selectAll().orderBy('day').orderBy('address');
  const texts = db.selectFrom('source_text').selectAll().orderBy('month').orderBy('id');
  const rows = await sources.execute();
  // Intake appends to details; reading again adds up.
  const addedUp = rows.map((row) => ({ ...row, details: parseDetails(row.details) }));
  return [addedUp, await texts.execute()];
}
