import { sql } from 'kysely';
import type { Db } from '../../src/store/engine/database.ts';
import { dialectOf } from '../../src/store/engine/dialect.ts';
import { toReader } from '../../src/store/engine/reader.ts';
import type { Difference } from '../../src/store/verify/figures.ts';
import { verify } from '../../src/store/verify/verify.ts';

type Miscounts = Partial<Record<string, (Difference | Copy)[]>>;

/**
 * What `plumbline verify` finds, by table; empty when every figure is right. Of a cluster of Citus also the tables that servers have
 * different copies of (decision 134).
 */
export async function listMiscounts(db: Db): Promise<Miscounts> {
  const found = await db.write((tx) => Array.fromAsync(verify({ db: tx, reader: toReader(tx) })));
  const copies = dialectOf(db).isDivided ? await listUnequalCopies(db) : [];
  return Object.groupBy([...found, ...copies], ({ table }) => table);
}

interface Copy {
  readonly table: string;
  readonly rows: string;
}

async function listUnequalCopies(db: Db): Promise<Copy[]> {
  const found: Copy[] = [];
  for (const table of ['account', 'domain']) {
    const rows = "select coalesce(json_agg(copy order by id), '[]') from %s as copy";
    const copies =
      await sql<Copy>`select distinct ${`copies of ${table}`} as "table", result as rows
      from run_command_on_placements(${table}, ${rows})`.execute(db);
    if (copies.rows.length > 1) found.push(...copies.rows);
  }
  return found;
}
