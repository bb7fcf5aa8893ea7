import { hash } from 'node:crypto';
import type { Day } from '../../domain/instant.ts';
import type { Tx } from '../connection/database.ts';
import {
  type BoundQuery,
  prepareQuery,
  runAllPrepared,
  runPrepared,
} from '../connection/prepared.ts';
import { prepareRows } from './multi-row.ts';
import { ID_CHARS } from './source-details.ts';

/*
 * The patterns that the details of sources refer to (decision 92). Each month of a domain has its own, so that a
 * month in which many were made up has no effect on another one.
 */

/** A pattern as one reporter sent it. */
export interface ReportedPattern {
  readonly reporter: string | null;
  /** A text of domain/reports/source-pattern.ts. */
  readonly pattern: string;
}

/** How many patterns a domain keeps for one month. Messages of further ones are shown without theirs. */
export const MAX_PATTERNS_OF_MONTH = 10_000;
/** Characters kept of the name of a reporter. */
const MAX_REPORTER = 200;

export function toReporter(orgName: string | null): string | null {
  return orgName === null ? null : orgName.slice(0, MAX_REPORTER).toWellFormed();
}

/** The id of a pattern: the beginning of a hash, so that it is known without reading the database. */
export function toPatternId({ reporter, pattern }: ReportedPattern): string {
  return hash('sha256', JSON.stringify([reporter, pattern]), 'base64url').slice(0, ID_CHARS);
}

/** The patterns of some days, by month and id. */
export class Patterns {
  readonly #byMonth = new Map<string, Map<string, ReportedPattern>>();
  readonly #ids = new Map<string | null, Map<string, string>>();
  size = 0;

  /** Adds a pattern of a day, and returns its id. */
  add(day: Day, reported: ReportedPattern): string {
    const id = this.#toId(reported);
    const month = day.slice(0, 7);
    const known = this.#byMonth.get(month) ?? new Map<string, ReportedPattern>();
    if (!known.has(id)) this.size += 1;
    this.#byMonth.set(month, known.set(id, reported));
    return id;
  }

  /** Statements that insert those that are not stored yet, and return them. */
  toInserts(domainId: string): BoundQuery<StoredPattern>[] {
    const rows = [...this.#byMonth].flatMap(([month, patterns]) =>
      [...patterns].map(([id, reported]) => ({ domain_id: domainId, month, id, ...reported })),
    );
    return patternInserts(rows);
  }

  #toId(reported: ReportedPattern): string {
    const ids = this.#ids.get(reported.reporter) ?? new Map<string, string>();
    const id = ids.get(reported.pattern) ?? toPatternId(reported);
    this.#ids.set(reported.reporter, ids.set(reported.pattern, id));
    return id;
  }
}

/** The key of a pattern of a domain. */
interface StoredPattern {
  readonly month: string;
  readonly id: string;
}

/** Inserts the patterns that are not stored yet, as far as their months have room. */
export async function insertPatterns(tx: Tx, domainId: string, patterns: Patterns): Promise<void> {
  const inserted = await runAllPrepared(tx, patterns.toInserts(domainId));
  await boundPatterns(tx, domainId, inserted.flat());
}

/** Deletes patterns that were just inserted from months that had enough. */
async function boundPatterns(
  tx: Tx,
  domainId: string,
  inserted: readonly StoredPattern[],
): Promise<void> {
  const ids = Map.groupBy(inserted, ({ month }) => month);
  for (const [month, patterns] of ids) {
    const [stored] = await runPrepared(tx, patternCount({ domainId, month }));
    const over = Number(stored?.patterns) - MAX_PATTERNS_OF_MONTH;
    if (over > 0) await deletePatterns(tx, { domainId, month, ids: patterns.slice(-over) });
  }
}

const patternCount = prepareQuery<{ domainId: string; month: string }, { patterns: number }>(
  (db, param) =>
    db
      .selectFrom('source_pattern')
      .select(({ fn }) => fn.countAll<number>().as('patterns'))
      .where('domain_id', '=', param('domainId'))
      .where('month', '=', param('month')),
);

interface ToDelete {
  readonly domainId: string;
  readonly month: string;
  readonly ids: readonly StoredPattern[];
}

async function deletePatterns(tx: Tx, { domainId, month, ids }: ToDelete): Promise<void> {
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    const some = ids.slice(from, from + IDS_AT_ONCE).map(({ id }) => id);
    await tx
      .deleteFrom('source_pattern')
      .where('domain_id', '=', domainId)
      .where('month', '=', month)
      .where('id', 'in', some)
      .execute();
  }
}

/** Ids in one statement. */
const IDS_AT_ONCE = 500;

const PATTERN_COLUMNS = ['domain_id', 'month', 'id', 'reporter', 'pattern'] as const;

type PatternRow = {
  readonly domain_id: string;
  readonly month: string;
  readonly id: string;
  readonly reporter: string | null;
  readonly pattern: string;
};

const patternInserts = prepareRows<PatternRow, StoredPattern>(PATTERN_COLUMNS, (db, rows) =>
  db
    .insertInto('source_pattern')
    .values(rows)
    .onConflict((oc) => oc.columns(['domain_id', 'month', 'id']).doNothing())
    .returning(['month', 'id']),
);
