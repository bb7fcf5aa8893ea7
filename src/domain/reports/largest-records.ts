import type { ReportRecord } from './aggregate-report.ts';
import { passesDmarc } from './alignment.ts';
import { toRecordValues } from './record-text.ts';

/**
 * How many records of a report are kept one by one.
 *
 * @internal Tests make reports with more.
 */
export const MAX_KEPT_RECORDS = 10_000;
/** Characters of their texts. A usual record has 150. */
const MAX_KEPT_CHARS = 4_000_000;

/** A record as a text of record-text.ts: its values would keep all pieces of a large document in memory. */
export interface RecordText {
  readonly text: string;
  readonly count: number;
  readonly isAligned: boolean;
}

/**
 * The records of a report that are kept one by one, gathered while they are read, in bounded memory: those with the
 * most messages, of equal ones those whose texts come first: which are kept does not depend on their order.
 */
export class LargestRecords {
  #gathered: readonly RecordText[] = [];
  #added: RecordText[] = [];
  #chars = 0;
  /** The first record that was left out. What comes behind it is not among the largest. */
  #leftOut: RecordText | undefined;

  add(record: ReportRecord): void {
    const { count } = record;
    if (this.#leftOut !== undefined && count < this.#leftOut.count) return;
    const text = JSON.stringify(toRecordValues(record));
    const one = { text, count, isAligned: passesDmarc(record.policyEvaluated) };
    if (this.#leftOut !== undefined && compare(this.#leftOut, one) <= 0) return;
    this.#added.push(one);
    this.#chars += one.text.length;
    if (this.#added.length >= MAX_KEPT_RECORDS || this.#chars >= MAX_KEPT_CHARS) this.#cut();
  }

  end(): readonly RecordText[] {
    this.#cut();
    return this.#gathered;
  }

  #cut(): void {
    const sorted = [...this.#gathered, ...this.#added].sort(compare);
    let room = MAX_KEPT_CHARS;
    const end = sorted.findIndex(({ text }, i) => {
      room -= text.length;
      return i === MAX_KEPT_RECORDS || room < 0;
    });
    if (end >= 0) this.#leftOut = sorted[end];
    this.#gathered = end < 0 ? sorted : sorted.slice(0, end);
    [this.#added, this.#chars] = [[], 0];
  }
}

const compare = (a: RecordText, b: RecordText): number =>
  b.count - a.count || (a.text < b.text ? -1 : Number(a.text > b.text));
