import { Budget, type Spending } from '../budget.ts';
import { readDocuments } from '../containers/documents.ts';
import type { IntakeDocument } from '../intake-document.ts';
import { checkMail } from '../verification/check.ts';
import type { Claim, Verification } from '../verification/claim.ts';

export interface ParseOptions extends Spending {
  /** The time of receipt, in milliseconds. */
  readonly nowMs: number;
  /** Whether it is a mail of which `check` said who sent it: nothing is read that this did not see. */
  readonly isVerified?: boolean | undefined;
  /** The name of the file: that of a TLS report may say of which domain it is. */
  readonly name?: string | undefined;
}

/** Implementations differ in the process that parses. */
export interface Parser {
  /** Every document, in order, at least one. Never throws because of the bytes' content. */
  parse(bytes: Uint8Array, options: ParseOptions): AsyncIterable<IntakeDocument>;
}

/** Says who sent a mail, where its bytes may be read. */
export interface Checker {
  check(bytes: Uint8Array, claim: Claim): Promise<Verification>;
}

/** Parses in this process: for trusted bytes, such as the demo's. */
export const localParser: Parser & Checker = {
  check: checkMail,
  parse: (bytes, options) =>
    readDocuments(bytes, { ...options, budget: new Budget(bytes.length, {}, options) }),
};
