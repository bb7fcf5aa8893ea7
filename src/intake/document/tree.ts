import type { WarningLog, XmlLocation } from '../warnings.ts';
import { Element } from './element.ts';
import { FEEDBACK } from './shape.ts';

const START: XmlLocation = { line: 1, column: 0 };

/**
 * Each record is passed on when it is complete and then released, so that a report of any length needs the memory of
 * one record. Names are local names, without a prefix. A location is valid only during the call.
 */
export class ReportTree {
  readonly #log: WarningLog;
  readonly #onRecord: (record: Element) => void;
  readonly #open: Element[] = [];
  /** Elements open below the last kept one. */
  #ignored = 0;
  root: Element;
  recordCount = 0;

  constructor(log: WarningLog, onRecord: (record: Element) => void) {
    this.#log = log;
    this.#onRecord = onRecord;
    this.root = new Element('feedback', { shape: FEEDBACK, location: START, log, isAbsent: true });
  }

  open(name: string, location: XmlLocation): void {
    const parent = this.#open.at(-1);
    const shape = parent === undefined ? FEEDBACK : parent.shape.children.get(name);
    if (this.#ignored > 0 || shape === undefined) {
      this.#ignored += 1;
      return;
    }
    const element = new Element(name, { shape, location, log: this.#log });
    this.#open.push(element);
    if (parent === undefined) this.root = element;
  }

  text(text: string): void {
    const current = this.#open.at(-1);
    if (this.#ignored === 0 && current && current.shape.maxChars > 0) current.addText(text);
  }

  close(): void {
    if (this.#ignored > 0) {
      this.#ignored -= 1;
      return;
    }
    const closed = this.#open.pop();
    const parent = this.#open.at(-1);
    if (closed === undefined || parent === undefined) return;
    if (parent !== this.root || closed.name !== 'record') parent.addChild(closed);
    else {
      this.recordCount += 1;
      this.#onRecord(closed);
    }
  }
}
