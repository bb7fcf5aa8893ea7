import { hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import type pg from 'pg';
import { toShownUrl } from '../../domain/database-address.ts';
import { Failure } from '../../domain/failure.ts';
import { listApplied } from '../engine/sqlite/migrate.ts';
import { deleteMove, findMove, insertMove, type Move } from '../engine/sqlite/moved.ts';
import {
  countRows,
  listSequences,
  listTables,
  openAlone,
  openUnmigrated,
  readBatches,
} from './from-sqlite.ts';
import {
  fillInTransaction,
  insertRows,
  listColumns,
  lockTables,
  readContent,
  setSequence,
  type TableContent,
  toComparable,
} from './to-postgres.ts';

export interface MoveOptions {
  readonly from: string;
  readonly to: string;
  readonly password?: (() => string) | undefined;
  readonly now: () => Date;
  readonly onProgress?: (progress: Progress) => void;
}

/** `rows` counts those copied of all tables; the last ones are from `table`. */
export type Progress = { readonly table: string; readonly rows: number; readonly total: number };

export type MovedTable = {
  readonly table: string;
  readonly rows: number;
  /** The same in both databases. */
  readonly checksum: string;
};

/**
 * Copies SQLite to PostgreSQL and compares both while no other process can use them. Then PostgreSQL commits, and
 * after it SQLite commits that it was moved. A move that ends before changes neither. After one that ends between the
 * two, the next move finds the same rows in both and copies nothing (decision 86).
 */
export async function moveDatabase(options: MoveOptions): Promise<MovedTable[]> {
  const { from, to, password, now } = options;
  const sqlite = await openAlone(from);
  try {
    const tables = await fillInTransaction(to, password, async (client) => {
      const moved = await moveTables(sqlite, client, options);
      insertMove(sqlite, { at: now().toISOString(), to: toShownUrl(to) });
      return moved;
    });
    sqlite.exec('commit');
    return tables;
  } finally {
    sqlite.close();
  }
}

/** Lets a SQLite database that was moved be used again. */
export function cancelMove(path: string): Move {
  const sqlite = openUnmigrated(path);
  try {
    const move = findMove(listApplied(sqlite));
    if (move === undefined) throw new Failure('conflict', `The database ${path} was not moved.`);
    deleteMove(sqlite);
    return move;
  } finally {
    sqlite.close();
  }
}

async function moveTables(
  sqlite: Database.Database,
  client: pg.PoolClient,
  { to, onProgress = () => {} }: MoveOptions,
): Promise<MovedTable[]> {
  const names = listTables(sqlite);
  const total = countRows(sqlite, names);
  const isEmpty = await lockTables(client, names);
  const tables: MovedTable[] = [];
  let done = 0;
  for (const table of names) {
    const onRows = (rows: number) => onProgress({ table, rows: done + rows, total });
    const { rows, checksum } = await copyTable(sqlite, client, { table, isEmpty, onRows });
    const copy = await readContent(client, table);
    if (copy.rows !== rows || copy.checksum !== checksum) {
      const counts = `${rows} rows in SQLite, ${copy.rows} in PostgreSQL`;
      const message = isEmpty
        ? `The copy of ${table} has other rows: ${counts}.`
        : `The database ${toShownUrl(to)} is not empty: a move fills an empty one.`;
      throw new Failure('conflict', message);
    }
    tables.push({ table, rows, checksum: BigInt.asUintN(64, checksum).toString(16) });
    done += rows;
  }
  for (const sequence of listSequences(sqlite)) await setSequence(client, sequence);
  return tables;
}

/** Only counts and hashes the rows when PostgreSQL has rows already. */
async function copyTable(
  sqlite: Database.Database,
  client: pg.PoolClient,
  { table, isEmpty, onRows }: { table: string; isEmpty: boolean; onRows: (rows: number) => void },
): Promise<TableContent> {
  let [rows, checksum] = [0, 0n];
  for (const batch of readBatches(sqlite, table, await listColumns(client, table))) {
    if (isEmpty) await insertRows(client, table, batch);
    for (const row of batch)
      checksum += hash('sha256', toComparable(row), 'buffer').readBigInt64BE();
    rows += batch.length;
    onRows(rows);
  }
  return { rows, checksum };
}
