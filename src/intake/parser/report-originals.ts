import { Failure } from '../../domain/failure.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import type { ReportOriginals, ReportPlace } from '../../domain/reports/report-content.ts';
import { toReportId } from '../../domain/reports/report-identity.ts';
import { toSizeText } from '../../domain/size.ts';
import type { Queries } from '../../store/engine/database.ts';
import { findOriginalSize, readOriginal } from '../../store/inputs/originals.ts';
import type { IntakeDocument } from '../documents.ts';
import type { RequestedContent, RequestedReport } from '../report/requested.ts';
import { createFairQueue } from './fair-queue.ts';
import { MAX_SMALL_BYTES, parseSmall } from './input-parser.ts';
import { createParserProcess } from './parser-process.ts';

/** A larger input has so many reports that a person would wait too long for one of them. */
const MAX_BYTES = 32 * 1024 * 1024;
/** The child process has some 60 MB, so it ends when it was not needed for so long. */
const IDLE_MS = 60_000;

export interface ClosableReportOriginals extends ReportOriginals {
  /** Ends the child process. */
  readonly close: () => Promise<void>;
}

/**
 * Reads single reports again for pages. A small input is read in this process, as by intake (decision 57); for any
 * other, a child process reads one at a time, and few people wait for it.
 */
export function createReportOriginals(db: Queries): ClosableReportOriginals {
  const child = createParserProcess();
  const inTurn = createFairQueue();
  let idle: NodeJS.Timeout | undefined;

  const readThere = async (
    place: ReportPlace,
    wanted: RequestedReport,
  ): Promise<IntakeDocument[]> => {
    clearTimeout(idle);
    try {
      const bytes = await readBytes(db, place);
      const documents: IntakeDocument[] = [];
      for await (const { document } of child.read([bytes], toMs(place), wanted))
        documents.push(document);
      return documents;
    } finally {
      idle = setTimeout(() => void child.close(), IDLE_MS).unref();
    }
  };
  const find = async (place: ReportPlace, personId: string, what: RequestedReport['what']) => {
    const wanted = { payloadSha256: place.payloadSha256, what };
    const documents =
      (await readHere(db, place, wanted)) ??
      (await inTurn(personId, () => readThere(place, wanted)));
    return requireFound(documents, place);
  };
  return {
    readRecords: async (place, { records: wanted, personId }) => {
      const { report, found } = await find(place, personId, wanted);
      if (found.kind !== 'records') throw new Error('The reader found a document, not records.');
      const { metadata, policyPublished, xmlNamespace, version } = report;
      const { records, listed } = found;
      return { metadata, policyPublished, xmlNamespace, version, records, listed };
    },
    readDocument: async (place, personId) => {
      const { found } = await find(place, personId, 'document');
      if (found.kind !== 'document') throw new Error('The reader found records, not a document.');
      return found.gzip;
    },
    close: async () => {
      clearTimeout(idle);
      await child.close();
    },
  };
}

const toMs = ({ receivedAt }: ReportPlace): number => Date.parse(receivedAt);

/** The documents of a small input; undefined when the child has to read it. */
async function readHere(db: Queries, place: ReportPlace, wanted: RequestedReport) {
  const size = await findOriginalSize(db, place.inputSeq);
  if (size === undefined) throw gone();
  if (size > MAX_BYTES) throw tooLarge(size);
  if (size > MAX_SMALL_BYTES) return undefined;
  return await parseSmall(await readBytes(db, place), { nowMs: toMs(place), wanted });
}

/** The input's name is not in the error: it may be a path on the operator's machine. */
async function readBytes(db: Queries, { inputSeq }: ReportPlace): Promise<Uint8Array> {
  try {
    return (await readOriginal(db, inputSeq)).bytes;
  } catch (error) {
    throw error instanceof Failure ? gone() : error;
  }
}

interface FoundReport {
  readonly report: AggregateReport;
  readonly found: RequestedContent;
}

function requireFound(
  documents: readonly IntakeDocument[],
  { reportId }: ReportPlace,
): FoundReport {
  for (const document of documents) {
    if (document.kind !== 'report') continue;
    const { report, found } = document;
    if (found !== undefined && toReportId(report) === reportId) return { report, found };
  }
  // Of several documents, the reason may quote one of another account.
  const [only, ...others] = documents;
  const isOwn = only !== undefined && only.kind !== 'report' && others.length === 0;
  const reason = isOwn ? only.refusal.message : 'It is not in the original any more.';
  throw new Failure('not_found', `The original cannot be read again as this report. ${reason}`);
}

function gone(): Failure {
  return new Failure('not_found', 'The original of this report is not stored any more.');
}

function tooLarge(bytes: number): Failure {
  const size = toSizeText(bytes);
  return new Failure(
    'limit_reached',
    `This report came in with many others, in ${size}: too much to be read again for a page.`,
  );
}
