import { hash } from 'node:crypto';
import type { Day } from '../../../domain/instant.ts';
import type { Tx } from '../../engine/database.ts';
import { prepareRows } from '../../engine/many-rows.ts';
import { prepareQuery, runAllPrepared } from '../../engine/prepared.ts';
import { PATTERN_ID_CHARS, REPORTER_ID_CHARS } from './details.ts';

/*
 * The texts that the details of sources refer to: patterns, and names of reporters (decision 92). Each month of a
 * domain has texts of its own, so that invented patterns in one month take no room from another month.
 */

/** How many texts a domain keeps for one month. Messages that refer to further texts are shown without them. */
const MAX_TEXTS_OF_MONTH = 10_000;
/** Characters kept of the name of a reporter. */
const MAX_REPORTER = 200;

/** The beginning of a hash, so that an id is known without reading the database. */
function toId(text: string, chars: number): string {
  return hash('sha256', text, 'base64url').slice(0, chars);
}

function toReporterText(orgName: string | null): string {
  return JSON.stringify(orgName === null ? null : orgName.slice(0, MAX_REPORTER).toWellFormed());
}

/** The texts of some days of a domain, by month and id. */
export class SourceTexts {
  readonly #byMonth = new Map<string, Map<string, string>>();
  readonly #reporterIds = new Map<string | null, string>();
  readonly #patternIds = new Map<string, string>();
  size = 0;

  /** Adds the name of a report's reporter. Returns a function that adds a pattern and returns the id of both. */
  ofReport(day: Day, orgName: string | null): (pattern: string) => string {
    const reporterText = toReporterText(orgName);
    const reporter = this.#reporterIds.get(reporterText) ?? toId(reporterText, REPORTER_ID_CHARS);
    this.#reporterIds.set(reporterText, reporter);
    const texts = this.#ofMonth(day.slice(0, 7));
    this.#add(texts, reporter, reporterText);
    return (pattern) => {
      const id = this.#patternIds.get(pattern) ?? toId(pattern, PATTERN_ID_CHARS);
      this.#patternIds.set(pattern, id);
      this.#add(texts, id, pattern);
      return `${reporter}${id}`;
    };
  }

  toRows(domainId: string): TextRow[] {
    const rows: TextRow[] = [];
    for (const [month, texts] of this.#byMonth)
      for (const [id, text] of texts) rows.push({ domain_id: domainId, month, id, text });
    return rows;
  }

  #ofMonth(month: string): Map<string, string> {
    const texts = this.#byMonth.get(month) ?? new Map<string, string>();
    this.#byMonth.set(month, texts);
    return texts;
  }

  #add(texts: Map<string, string>, id: string, text: string): void {
    if (texts.has(id)) return;
    texts.set(id, text);
    this.size += 1;
  }
}

/** The key of a text. */
export interface StoredText {
  readonly domain_id: string;
  readonly month: string;
  readonly id: string;
}

type TextRow = {
  readonly domain_id: string;
  readonly month: string;
  readonly id: string;
  readonly text: string;
};

/** Statements that insert the texts that are not stored yet, and return them. */
export const textInserts = prepareRows<TextRow, StoredText>(
  ['domain_id', 'month', 'id', 'text'],
  (db, rows) =>
    db
      .insertInto('source_text')
      .values(rows)
      .onConflict((oc) => oc.columns(['domain_id', 'month', 'id']).doNothing())
      .returning(['domain_id', 'month', 'id']),
);

/** Deletes texts that were just inserted into months that have more than their maximum. */
export async function boundTexts(tx: Tx, inserted: readonly StoredText[]): Promise<void> {
  const byMonth = Map.groupBy(inserted, ({ domain_id, month }) => `${domain_id} ${month}`);
  const months = [...byMonth.values()].map((texts) => {
    const [{ domain_id, month }] = texts as [StoredText];
    return { domainId: domain_id, month, texts };
  });
  const counts = await runAllPrepared(tx, months.map(textCount));
  for (const [i, { texts, ...of }] of months.entries()) {
    const over = Number(counts[i]?.[0]?.texts) - MAX_TEXTS_OF_MONTH;
    if (over > 0) await deleteTexts(tx, { ...of, texts: texts.slice(-over) });
  }
}

const textCount = prepareQuery<{ domainId: string; month: string }, { texts: number }>(
  (db, param) =>
    db
      .selectFrom('source_text')
      .select(({ fn }) => fn.countAll<number>().as('texts'))
      .where('domain_id', '=', param('domainId'))
      .where('month', '=', param('month')),
);

interface ToDelete {
  readonly domainId: string;
  readonly month: string;
  readonly texts: readonly StoredText[];
}

const IDS_AT_ONCE = 500;

async function deleteTexts(tx: Tx, { domainId, month, texts }: ToDelete): Promise<void> {
  for (let from = 0; from < texts.length; from += IDS_AT_ONCE) {
    const ids = texts.slice(from, from + IDS_AT_ONCE).map(({ id }) => id);
    await tx
      .deleteFrom('source_text')
      .where('domain_id', '=', domainId)
      .where('month', '=', month)
      .where('id', 'in', ids)
      .execute();
  }
}
