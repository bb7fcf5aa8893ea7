import type Database from 'better-sqlite3';
import { toShownUrl } from '../../domain/database-address.ts';
import { Failure } from '../../domain/failure.ts';
import { type Marker, toMovedFailure, toMovingFailure } from './marker.ts';
import { MOVED_TABLES, type MovedTable } from './moved-tables.ts';
import { type Stored, toChecksum } from './rows.ts';
import {
  countRows,
  findLargestSeq,
  freeze,
  listColumns,
  markAsMoved,
  openSource,
  readBatches,
  readMarker,
  thaw,
} from './source.ts';
import {
  analyze,
  createTables,
  findState,
  finishTarget,
  insertBatch,
  markTarget,
  openTarget,
  type Password,
  readCopied,
  readSum,
  setSequence,
  type Target,
  toRefusal,
} from './target.ts';

export interface MoveOptions {
  /** The path of the SQLite database. */
  readonly from: string;
  /** The URL of the PostgreSQL database. */
  readonly to: string;
  readonly password?: Password;
  readonly now: () => Date;
  readonly onProgress?: (progress: Progress) => void;
}

/** How many rows of all tables were copied, or compared. */
export interface Progress {
  readonly step: 'copied' | 'verified';
  readonly rows: number;
  readonly total: number;
}

export interface MovedRows {
  readonly table: string;
  readonly rows: number;
  /** Of all rows, in the order of the key; the same in both databases. */
  readonly checksum: string;
}

/**
 * Moves a SQLite database to PostgreSQL: freezes it, copies every table in bounded transactions, compares all
 * rows, marks the SQLite database as moved, and only then lets servers open the PostgreSQL database. Ended at
 * any moment and run again, it goes on where it was. Returns undefined when the database was moved before.
 */
export async function moveDatabase(options: MoveOptions): Promise<MovedRows[] | undefined> {
  const source = await openSource(options.from);
  try {
    const target = await openTarget(options.to, options.password);
    try {
      return await moveBetween(source, target, options);
    } finally {
      await target.close();
    }
  } finally {
    source.close();
  }
}

/** Gives up a move that was not finished: the SQLite database can be written to again. */
export async function cancelMove(path: string): Promise<Marker> {
  const source = await openSource(path);
  try {
    return await thaw(source);
  } finally {
    source.close();
  }
}

async function moveBetween(
  source: Database.Database,
  target: Target,
  options: MoveOptions,
): Promise<MovedRows[] | undefined> {
  const marker = await begin(source, target, options);
  if (marker === undefined) return undefined;
  const total = MOVED_TABLES.reduce((rows, table) => rows + countRows(source, table), 0);
  const report = createReport(total, options.onProgress);
  for (const table of MOVED_TABLES) await copyTable(source, target, { table, report });
  await analyze(target);
  const moved: MovedRows[] = [];
  for (const table of MOVED_TABLES)
    moved.push(await verifyTable(source, target, { table, report }));
  await setSequences(source, target);
  if (marker.state === 'moving') await markAsMoved(source, marker);
  await finishTarget(target, marker.id);
  return moved;
}

/** The marker of the move that begins or goes on; undefined when it was finished before. */
async function begin(
  source: Database.Database,
  target: Target,
  { to, password, now }: MoveOptions,
): Promise<Marker | undefined> {
  const known = readMarker(source);
  requireSameTarget(source, known, to);
  const state = await findState(target, known?.id);
  if (known?.state === 'moved' && state === 'in use') return undefined;
  if (known?.state === 'moved' && state === 'empty') throw toMovedFailure(source.name, known);
  if (state === 'own') return known;
  if (state !== 'empty') throw toRefusal(target, state);
  await createTables(target, password);
  const marker = await freeze(source, { to: toShownUrl(to), at: now().toISOString() });
  requireSameTarget(source, marker, to);
  await markTarget(target, marker);
  return marker;
}

/** A move that was interrupted goes on to its own target only: two targets would have one history. */
function requireSameTarget(source: Database.Database, known: Marker | undefined, to: string): void {
  if (known === undefined || known.to === toShownUrl(to)) return;
  throw known.state === 'moved'
    ? toMovedFailure(source.name, known)
    : toMovingFailure(source.name, known);
}

type Report = (step: Progress['step'], rows: number) => void;

function createReport(total: number, onProgress: MoveOptions['onProgress'] = () => {}): Report {
  const done = { copied: 0, verified: 0 };
  return (step, rows) => {
    done[step] += rows;
    onProgress({ step, rows: done[step], total });
  };
}

interface TableMove {
  readonly table: MovedTable;
  readonly report: Report;
}

async function copyTable(
  source: Database.Database,
  target: Target,
  { table, report }: TableMove,
): Promise<void> {
  const columns = listColumns(source, table);
  let before = await readCopied(target, table);
  report('copied', before.rows);
  for (const batch of readBatches(source, table, before.last)) {
    before = await insertBatch(target, { table, columns, batch, before });
    report('copied', batch.rows.length);
  }
}

/** Compares a table part by part: the number of rows, and a checksum that both databases compute. */
async function verifyTable(
  source: Database.Database,
  target: Target,
  { table, report }: TableMove,
): Promise<MovedRows> {
  const columns = listColumns(source, table);
  const sums: string[] = [];
  let rows = 0;
  let after: readonly Stored[] | undefined;
  for (const batch of readBatches(source, table)) {
    const checksum = toChecksum(batch.rows);
    const copy = await readSum(target, table, { columns, after, upTo: batch.last });
    requireEqual(table, { rows: batch.rows.length, checksum }, copy);
    sums.push(checksum);
    rows += batch.rows.length;
    after = batch.last;
    report('verified', batch.rows.length);
  }
  const none = toChecksum([]);
  requireEqual(
    table,
    { rows: 0, checksum: none },
    await readSum(target, table, { columns, after, upTo: undefined }),
  );
  return { table: table.name, rows, checksum: toChecksum([sums]) };
}

interface Sums {
  readonly rows: number;
  readonly checksum: string;
}

function requireEqual({ name }: MovedTable, wanted: Sums, copy: Sums): void {
  if (wanted.rows === copy.rows && wanted.checksum === copy.checksum) return;
  throw new Failure(
    'conflict',
    `The table ${name} is not the same in both databases: ${wanted.rows} rows here, ${copy.rows} there, or rows that ` +
      'differ. Something else wrote to the target. End this move with “plumbline move --cancel” and begin again ' +
      'with an empty database.',
  );
}

async function setSequences(source: Database.Database, target: Target): Promise<void> {
  for (const table of MOVED_TABLES) {
    const largest = findLargestSeq(source, table);
    if (largest !== undefined && largest > 0) await setSequence(target, table, largest);
  }
}
