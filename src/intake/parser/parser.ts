import { Budget, MAX_REQUESTED_CPU_MS, maxCpuMs } from '../budget.ts';
import { readDocuments } from '../containers/documents.ts';
import type { IntakeDocument } from '../intake-document.ts';
import type { RequestedReport } from '../report/requested.ts';

export interface ParseOptions {
  /** The time of receipt, in milliseconds. */
  readonly nowMs: number;
  /** Of all reports only this one, after the documents before it that are not reports. */
  readonly requested?: RequestedReport | undefined;
}

/** Implementations differ in the process that parses. */
export interface Parser {
  /** Every document, in order, at least one unless one was requested. Never throws because of the bytes' content. */
  parse(bytes: Uint8Array, options: ParseOptions): AsyncIterable<IntakeDocument>;
}

/** Parses in this process: for trusted bytes, such as the demo's. */
export const localParser: Parser = {
  parse: (bytes, { nowMs, requested }) => {
    const budget = new Budget(bytes.length, { cpuMs: toCpuMs(bytes.length, requested) });
    return readDocuments(bytes, { nowMs, budget, requested });
  },
};

/** Less when a person waits for one report of the input. */
export function toCpuMs(inputBytes: number, requested: RequestedReport | undefined): number {
  const cpuMs = maxCpuMs(inputBytes);
  return requested === undefined ? cpuMs : Math.min(cpuMs, MAX_REQUESTED_CPU_MS);
}
