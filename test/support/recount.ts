import type { Db } from '../../src/store/engine/database.ts';
import { toReader } from '../../src/store/engine/reader.ts';
import type { Difference } from '../../src/store/verify/figures.ts';
import { verify } from '../../src/store/verify/verify.ts';

/** What `plumbline verify` finds, by table; empty when every figure is right. */
export async function listMiscounts(db: Db): Promise<Partial<Record<string, Difference[]>>> {
  const found = await db.write((tx) => Array.fromAsync(verify({ db: tx, reader: toReader(tx) })));
  return Object.groupBy(found, ({ table }) => table);
}
