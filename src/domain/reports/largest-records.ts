import type { ReportRecord } from './aggregate-report.ts';
import {
  type KeptRecord,
  parseRecordTexts,
  type RecordValues,
  toRecord,
  toRecordValues,
} from './record-text.ts';

/**
 * How many records of a report are kept one by one.
 *
 * @internal Tests make reports with more.
 */
export const MAX_KEPT_RECORDS = 10_000;
/** Characters of their texts. A usual record has 150. */
const MAX_KEPT_CHARS = 4_000_000;

interface Gathered {
  readonly count: number;
  readonly text: string;
  /** undefined when only texts are held. */
  readonly values: RecordValues | undefined;
}

/**
 * The records of a report that are kept one by one, gathered while they are read, in bounded memory: those with the
 * most messages, of equal ones the earlier.
 */
export class LargestRecords {
  #gathered: readonly Gathered[] = [];
  #added: Gathered[] = [];
  #chars = 0;
  /** A record that comes now with no more messages than this is not among the largest. */
  #tooFew = -1;
  #hasValues = true;

  add(record: ReportRecord): void {
    if (record.count <= this.#tooFew) return;
    const values = toRecordValues(record);
    const text = JSON.stringify(values);
    this.#added.push({ count: record.count, text, values: this.#hasValues ? values : undefined });
    this.#chars += text.length;
    if (this.#added.length >= MAX_KEPT_RECORDS || this.#chars >= MAX_KEPT_CHARS) this.#cut();
  }

  /** The values of a large document would keep all of its pieces in memory. Parsing texts takes longer than reading them. */
  holdTextsOnly(): void {
    if (!this.#hasValues) return;
    this.#hasValues = false;
    this.#added = this.#added.map((one) => ({ ...one, values: undefined }));
  }

  /** Texts of record-text.ts, and what they say. */
  end(): { readonly texts: readonly string[]; readonly records: readonly KeptRecord[] } {
    this.#cut();
    const texts = this.#gathered.map(({ text }) => text);
    if (!this.#hasValues) return { texts, records: parseRecordTexts(texts) };
    const records = this.#gathered.map(({ text, values = JSON.parse(text) }) => toRecord(values));
    return { texts, records };
  }

  #cut(): void {
    const sorted = [...this.#gathered, ...this.#added].sort((a, b) => b.count - a.count);
    let room = MAX_KEPT_CHARS;
    const end = sorted.findIndex(({ text }, i) => {
      room -= text.length;
      return i === MAX_KEPT_RECORDS || room < 0;
    });
    if (end >= 0) this.#tooFew = (sorted[end] as Gathered).count;
    this.#gathered = end < 0 ? sorted : sorted.slice(0, end);
    [this.#added, this.#chars] = [[], 0];
  }
}
