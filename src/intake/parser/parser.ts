import { Budget } from '../budget.ts';
import { type IntakeDocument, readDocuments } from '../documents.ts';
import { MAX_WANTED_CPU_MS, maxCpuMs } from '../limits.ts';
import type { RequestedReport } from '../report/requested.ts';

/** A document, and the index of its input in the request. */
export interface FoundDocument {
  readonly index: number;
  readonly document: IntakeDocument;
}

/** Reads the documents in inputs. Implementations differ in where untrusted bytes are read. */
export interface Parser {
  /**
   * Every document of each input, input after input, at least one of each. Never throws because of the
   * bytes' content. `nowMs` is the time of receipt, in milliseconds. With `wanted`, only that report, and what is
   * not a report before it: nothing when it is in no input.
   */
  read(
    inputs: readonly Uint8Array[],
    nowMs: number,
    wanted?: RequestedReport,
  ): AsyncIterable<FoundDocument>;
}

/** CPU time for reading an input, in milliseconds: less when a person waits for one report of it. */
export function toCpuMs(inputBytes: number, wanted: RequestedReport | undefined): number {
  const cpuMs = maxCpuMs(inputBytes);
  return wanted === undefined ? cpuMs : Math.min(cpuMs, MAX_WANTED_CPU_MS);
}

/** Reads in this process: for trusted bytes, such as the demo's. */
export const localParser: Parser = {
  async *read(inputs, nowMs, wanted) {
    for (const [index, bytes] of inputs.entries()) {
      const cpuMs = toCpuMs(bytes.length, wanted);
      const budget = new Budget(bytes.length, undefined, { cpuMs });
      const documents = readDocuments({ name: '', bytes }, () => nowMs, { budget, wanted });
      for await (const document of documents) yield { index, document };
    }
  },
};
