import { setImmediate as nextTurn } from 'node:timers/promises';
import { Budget, type Limits } from '../budget.ts';
import { type IntakeDocument, readDocuments } from '../documents.ts';
import type { RequestedReport } from '../report/requested.ts';
import type { FoundDocument, Parser } from './parser.ts';
import { createParserProcess, type ParserProcess } from './parser-process.ts';

/**
 * The bytes, packed and unpacked, of an input that is read in this process. Nearly all reports are smaller, and
 * reading this much costs some milliseconds and megabytes, whatever the bytes are.
 */
export const MAX_SMALL_BYTES = 256 * 1024;

/** No mails: the libraries that read their headers may need more time than the size of a mail suggests. */
const SMALL: Partial<Limits> = {
  unpackedBytes: MAX_SMALL_BYTES,
  members: 16,
  mails: 0,
  cpuMs: 500,
};

/** A server that reads for a page also answers others. */
const SMALL_WANTED: Partial<Limits> = { ...SMALL, cpuMs: 100 };

/**
 * Reads small inputs in this process when they contain only reports, and all other inputs in a child process.
 * A run of intake in which all inputs are small does not start the child, which costs as much CPU as ingesting
 * 100 reports.
 */
export function createInputParser(child: ParserProcess = createParserProcess()): ParserProcess {
  return {
    get pid() {
      return child.pid;
    },
    read: (inputs, nowMs, wanted) => readHereOrThere(child, inputs, { nowMs, wanted }),
    close: () => child.close(),
  };
}

async function* readHereOrThere(
  child: Parser,
  inputs: readonly Uint8Array[],
  asked: Asked,
): AsyncGenerator<FoundDocument> {
  let from = 0;
  for (const [index, bytes] of inputs.entries()) {
    // What waits in this process goes on: requests, and the transaction that stores what was read before.
    await nextTurn();
    const documents = await parseSmall(bytes, asked);
    if (documents === undefined) continue;
    yield* readThere(child, { inputs, from, to: index, ...asked });
    for (const document of documents) yield { index, document };
    from = index + 1;
  }
  yield* readThere(child, { inputs, from, to: inputs.length, ...asked });
}

interface Asked {
  readonly nowMs: number;
  readonly wanted?: RequestedReport | undefined;
}

interface Range extends Asked {
  readonly inputs: readonly Uint8Array[];
  readonly from: number;
  readonly to: number;
}

/** Consecutive inputs, which the child gets together. */
async function* readThere(
  child: Parser,
  { inputs, from, to, nowMs, wanted }: Range,
): AsyncGenerator<FoundDocument> {
  if (from === to) return;
  for await (const { index, document } of child.read(inputs.slice(from, to), nowMs, wanted))
    yield { index: from + index, document };
}

/**
 * The reports in a small input; undefined when the input is not small or contains anything else. Any unusual
 * input is thus read by the child, from its beginning, and rejected with the reason that the child finds.
 */
export async function parseSmall(
  bytes: Uint8Array,
  { nowMs, wanted }: Asked,
): Promise<readonly IntakeDocument[] | undefined> {
  if (bytes.length > MAX_SMALL_BYTES) return undefined;
  const budget = new Budget(bytes.length, undefined, wanted ? SMALL_WANTED : SMALL);
  const documents: IntakeDocument[] = [];
  for await (const document of readDocuments({ name: '', bytes }, () => nowMs, {
    budget,
    wanted,
  })) {
    if (document.kind !== 'report') return undefined;
    documents.push(document);
  }
  return documents;
}
