import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { Budget, type Limits } from '../budget.ts';
import { readDocuments } from '../containers/documents.ts';
import type { IntakeDocument } from '../intake-document.ts';
import type { ParseOptions } from './parser.ts';
import { createParserProcess, type ParserProcess } from './parser-process.ts';

/**
 * The bytes, packed and unpacked, of an input that is parsed in this process. Nearly all reports are smaller, and
 * parsing this much costs some milliseconds and megabytes, whatever the bytes are.
 *
 * @internal Tests make larger inputs.
 */
export const MAX_SMALL_BYTES = 256 * 1024;

/** A header field of a mail takes at most some milliseconds, and a member has three that are parsed. */
const SMALL: Limits = { unpackedBytes: MAX_SMALL_BYTES, members: 16 };

/**
 * Parses small inputs in this process when they contain only reports, and all others in a child process. While all
 * inputs are small, no child is started: a start costs as much CPU as ingesting 100 reports.
 */
export function createInputParser(child: ParserProcess = createParserProcess()): ParserProcess {
  return {
    get pid() {
      return child.pid;
    },
    async *parse(bytes, options) {
      // What waits in this process goes on: requests, and the transaction that stores what was parsed before.
      await yieldToOthers();
      yield* (await parseSmall(bytes, options)) ?? child.parse(bytes, options);
    },
    kill: () => child.kill(),
    close: () => child.close(),
  };
}

/**
 * undefined when the input is not small or contains anything else: the child then parses it from its beginning.
 *
 * @internal Tests compare what the child gives.
 */
export async function parseSmall(
  bytes: Uint8Array,
  options: ParseOptions,
): Promise<readonly IntakeDocument[] | undefined> {
  if (bytes.length > MAX_SMALL_BYTES) return undefined;
  const budget = new Budget(bytes.length, SMALL, options);
  const documents: IntakeDocument[] = [];
  for await (const document of readDocuments(bytes, { ...options, budget })) {
    if (document.kind !== 'report') return undefined;
    documents.push(document);
  }
  return documents;
}
