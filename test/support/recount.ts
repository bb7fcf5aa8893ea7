import type { Db } from '../../src/store/engine/database.ts';
import { toReader } from '../../src/store/engine/reader.ts';
import { type Difference, verify } from '../../src/store/verify/verify.ts';

/**
 * What `plumbline verify` finds, by table; empty when every figure is right. Some fixtures have sources that their
 * records do not have: `holdSources` holds those of the others.
 */
export async function listMiscounts(db: Db): Promise<Partial<Record<string, Difference[]>>> {
  const found = await db.write((tx) => Array.fromAsync(verify({ db: tx, reader: toReader(tx) })));
  const held = found.filter(({ figure }) => figure !== 'sources');
  return Object.groupBy(held, ({ table }) => table);
}
