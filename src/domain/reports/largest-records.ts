import type { ReportRecord } from './aggregate-report.ts';
import { passesDmarc } from './alignment.ts';
import type { RecordPart, RecordRange, ShownRecord } from './report-content.ts';

/**
 * How many records of a report can be shown. Nearly all reports have fewer.
 *
 * @internal Tests make reports with more.
 */
export const MAX_LISTED_RECORDS = 1_000;
/** Characters of the texts of one part. A usual record has some 200. */
const PART_CHARS = 100_000;

/** How much is kept of one record: entries of each list, characters of a name, and characters of a text. */
interface Cut {
  readonly entries: number;
  readonly name: number;
  readonly text: number;
}
const USUAL: Cut = { entries: 10, name: 255, text: 300 };
/** For records after the first `PART_CHARS` characters of a part. Only a hostile report has so many. */
const TIGHT: Cut = { entries: 1, name: 60, text: 60 };

/**
 * The records of a report that matter most, gathered while they are read, in bounded memory: those with the most
 * failed messages first, then those with the most messages, then in the order of the document.
 */
export class LargestRecords {
  #kept: ShownRecord[] = [];
  /** The last record that is certainly among the largest so far. */
  #last: ShownRecord | undefined;

  add(record: ReportRecord): void {
    if (this.#last !== undefined && byWeight(this.#last, record) <= 0) return;
    // Copied, because a text from the parser is a slice that keeps the document's chunk in memory.
    this.#kept.push(JSON.parse(JSON.stringify(cut(record, USUAL))));
    if (this.#kept.length < 2 * MAX_LISTED_RECORDS) return;
    this.#kept = this.#sorted();
    this.#last = this.#kept.at(-1);
  }

  part({ from, count }: RecordRange): RecordPart {
    const listed = this.#sorted();
    let room = PART_CHARS;
    const records = listed.slice(from, from + count).map((record) => {
      room -= JSON.stringify(record).length;
      return room > 0 ? record : cut(record, TIGHT);
    });
    return { records, listed: listed.length };
  }

  #sorted(): ShownRecord[] {
    return this.#kept.toSorted(byWeight).slice(0, MAX_LISTED_RECORDS);
  }
}

function byWeight(a: ReportRecord, b: ReportRecord): number {
  return countFailed(b) - countFailed(a) || b.count - a.count;
}

function countFailed({ count, policyEvaluated }: ReportRecord): number {
  return passesDmarc(policyEvaluated) ? 0 : count;
}

function cut(record: ReportRecord & { readonly omitted?: number }, to: Cut): ShownRecord {
  const { policyEvaluated, identifiers, authResults } = record;
  const lists = [policyEvaluated.reasons, authResults.dkim, authResults.spf];
  const omitted = lists.reduce((sum, { length }) => sum + Math.max(0, length - to.entries), 0);
  return {
    ...record,
    policyEvaluated: {
      ...cutTexts(policyEvaluated, to),
      reasons: policyEvaluated.reasons.slice(0, to.entries).map((reason) => cutTexts(reason, to)),
    },
    identifiers: cutTexts(identifiers, to),
    authResults: {
      dkim: authResults.dkim.slice(0, to.entries).map((result) => cutTexts(result, to)),
      spf: authResults.spf.slice(0, to.entries).map((result) => cutTexts(result, to)),
    },
    omitted: (record.omitted ?? 0) + omitted,
  };
}

/** Fields that people write. All others are names, or words that the standards define. */
const TEXTS: ReadonlySet<string> = new Set(['comment', 'humanResult']);

function cutTexts<T extends object>(object: T, { name, text }: Cut): T {
  const entries = Object.entries(object).map(([key, value]) => [
    key,
    typeof value === 'string' ? cutText(value, TEXTS.has(key) ? text : name) : value,
  ]);
  return Object.fromEntries(entries);
}

function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars - 1).toWellFormed()}…`;
}
