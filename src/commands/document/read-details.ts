import { Failure } from '../../domain/failure.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import type { StoredInput } from '../../store/inputs/inputs.ts';
import { readOriginal } from '../../store/inputs/originals.ts';
import { insertDetails } from '../../store/sources/days/undetailed.ts';
import type { Given } from './read-again.ts';

/** What was done with an input whose reports had no details. */
export interface ReadForDetails {
  readonly input: string;
  /** How many of its reports got details of their sources. */
  readonly reports: number;
  /** Why the input could not be read; null when it was read. */
  readonly problem: string | null;
}

/** Reports of a large input that are held in memory at the same time, and source addresses of theirs. */
const REPORTS_AT_ONCE = 200;
const ADDRESSES_AT_ONCE = 4_000;

/** Reads stored inputs again, each as when it came in, and adds the details of their reports' sources. */
export async function* readDetails(
  given: Given,
  inputs: AsyncIterable<StoredInput>,
): AsyncGenerator<ReadForDetails> {
  for await (const input of inputs) yield await readOne(given, input);
}

async function readOne(given: Given, { seq, name, receivedAt }: StoredInput) {
  const { store, parser } = given;
  try {
    const { bytes } = await readOriginal(store.db, seq);
    const found = parser.parse(bytes, { nowMs: Date.parse(receivedAt) });
    return { input: name, ...(await insertFound(given, found)) };
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'unavailable') throw error;
    return { input: name, reports: 0, problem: error.message };
  }
}

async function insertFound(
  { store: { db } }: Given,
  found: ReturnType<Given['parser']['parse']>,
): Promise<Pick<ReadForDetails, 'reports' | 'problem'>> {
  let reports = 0;
  let problem: string | null = null;
  let [batch, addresses]: [AggregateReport[], number] = [[], 0];
  for await (const document of found) {
    if (document.kind === 'report') {
      batch.push(document.report);
      addresses += document.report.sources?.length ?? 0;
    } else if (document.kind === 'rejected') problem ??= document.refusal.message;
    if (batch.length < REPORTS_AT_ONCE && addresses < ADDRESSES_AT_ONCE) continue;
    reports += await insertDetails(db, batch);
    [batch, addresses] = [[], 0];
  }
  reports += await insertDetails(db, batch);
  return { reports, problem: reports > 0 ? null : problem };
}
