import { Budget } from '../budget.ts';
import { readDocuments } from '../containers/documents.ts';
import type { IntakeDocument } from '../intake-document.ts';

export interface ParseOptions {
  /** The time of receipt, in milliseconds. */
  readonly nowMs: number;
  /** Reading is given up with `too_costly` at a share of the budget. */
  readonly isBrief?: boolean | undefined;
}

/** Implementations differ in the process that parses. */
export interface Parser {
  /** Every document, in order, at least one. Never throws because of the bytes' content. */
  parse(bytes: Uint8Array, options: ParseOptions): AsyncIterable<IntakeDocument>;
}

/** Parses in this process: for trusted bytes, such as the demo's. */
export const localParser: Parser = {
  parse: (bytes, options) =>
    readDocuments(bytes, { ...options, budget: new Budget(bytes.length, {}, options) }),
};
