import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import type { Parser } from '../../intake/parser/parser.ts';
import type { Db } from '../../store/engine/database.ts';
import type { StoredInput } from '../../store/inputs/inputs.ts';
import { readOriginal } from '../../store/inputs/originals.ts';
import {
  countUndetailed,
  insertDetails,
  listUndetailedInputs,
} from '../../store/sources/days/undetailed.ts';
import { type OutputOptions, printOne, tell } from '../output/output.ts';
import { type RereadDeps, withParser } from './read-again.ts';

/** Reports of a large input that are held in memory at the same time, and source addresses of theirs. */
const REPORTS_AT_ONCE = 200;
const ADDRESSES_AT_ONCE = 4_000;

/** Reads stored inputs again, each as when it came in, and adds details of sources to the reports without them. */
export async function rereadDetails(
  options: OutputOptions & { readonly since?: Instant },
): Promise<void> {
  const done = await withParser(async (deps) => {
    const { db } = deps.store;
    const counts = { inputs: 0, reports: 0, unreadable: 0 };
    for await (const input of listUndetailedInputs(db, options.since)) {
      const { reports, problem } = await readDetails(deps, input);
      counts.inputs += 1;
      counts.reports += reports;
      if (problem === null) continue;
      counts.unreadable += 1;
      tell(`${input.name}: ${problem}`);
    }
    return { ...counts, reports_left: await countUndetailed(db) };
  });
  printOne(done, options);
  if (done.unreadable > 0) process.exitCode = 1;
}

/** What was done with an input. */
interface ReadDetails {
  /** How many of its reports got details of their sources. */
  readonly reports: number;
  /** Why the input could not be read; null when it was read. */
  readonly problem: string | null;
}

async function readDetails(
  { store: { db }, parser }: RereadDeps,
  { seq, receivedAt }: StoredInput,
): Promise<ReadDetails> {
  try {
    const { bytes } = await readOriginal(db, seq);
    return await insertFound(db, parser.parse(bytes, { nowMs: Date.parse(receivedAt) }));
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'unavailable') throw error;
    return { reports: 0, problem: error.message };
  }
}

async function insertFound(db: Db, found: ReturnType<Parser['parse']>): Promise<ReadDetails> {
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
