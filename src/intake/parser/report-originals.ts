import { Failure } from '../../domain/failure.ts';
import type { AggregateReport } from '../../domain/reports/aggregate-report.ts';
import type { ReportLocation, ReportOriginals } from '../../domain/reports/report-content.ts';
import { toReportId } from '../../domain/reports/report-identity.ts';
import { toSizeText } from '../../domain/size.ts';
import { findOriginalSize, readOriginal } from '../../store/documents/originals.ts';
import type { Queries } from '../../store/engine/database.ts';
import type { IntakeDocument } from '../intake-document.ts';
import type { RequestedContent, RequestedReport } from '../report/requested.ts';
import { createFairQueue } from './fair-queue.ts';
import { MAX_SMALL_BYTES, parseSmall } from './input-parser.ts';
import { createParserProcess } from './parser-process.ts';

/** A larger input has so many reports that a person would wait too long for one of them. */
const MAX_BYTES = 32 * 1024 * 1024;
/** The child process has some 60 MB, so it ends when it was not needed for so long. */
const IDLE_MS = 60_000;

export interface ClosableReportOriginals extends ReportOriginals {
  readonly close: () => Promise<void>;
}

/** Small inputs are parsed in this process (decision 48), others by one child, one at a time; few people may wait. */
export function createReportOriginals(db: Queries): ClosableReportOriginals {
  const child = createParserProcess();
  const queue = createFairQueue();
  let idle: NodeJS.Timeout | undefined;

  const parseInChild = async (location: ReportLocation, requested: RequestedReport) => {
    clearTimeout(idle);
    try {
      const bytes = await readBytes(db, location);
      return await Array.fromAsync(child.parse(bytes, { nowMs: toMs(location), requested }));
    } finally {
      idle = setTimeout(() => void child.close(), IDLE_MS).unref();
    }
  };
  const find = async (
    location: ReportLocation,
    personId: string,
    what: RequestedReport['what'],
  ) => {
    const requested = { payloadSha256: location.payloadSha256, what };
    const documents =
      (await parseHere(db, location, requested)) ??
      (await queue(personId, () => parseInChild(location, requested)));
    return requireRequested(documents, location);
  };
  return {
    readRecords: async (location, { records: range, personId }) => {
      const { report, requested } = await find(location, personId, range);
      if (requested.kind !== 'records') throw new Error('The parser gave a document, not records.');
      const { metadata, policyPublished, xmlNamespace, version } = report;
      const { records, listed } = requested;
      return { metadata, policyPublished, xmlNamespace, version, records, listed };
    },
    readDocument: async (location, personId) => {
      const { requested } = await find(location, personId, 'document');
      if (requested.kind !== 'document')
        throw new Error('The parser gave records, not a document.');
      return requested.gzip;
    },
    close: async () => {
      clearTimeout(idle);
      await child.close();
    },
  };
}

const toMs = ({ receivedAt }: ReportLocation): number => Date.parse(receivedAt);

/** The documents of a small input; undefined when the child has to parse it. */
async function parseHere(db: Queries, location: ReportLocation, requested: RequestedReport) {
  const size = await findOriginalSize(db, location.documentSeq);
  if (size === undefined || size === null) throw gone();
  if (size > MAX_BYTES) throw tooLarge(size);
  if (size > MAX_SMALL_BYTES) return undefined;
  return await parseSmall(await readBytes(db, location), { nowMs: toMs(location), requested });
}

/** The input's name is not in the error: it may be a path on the operator's machine. */
async function readBytes(db: Queries, { documentSeq }: ReportLocation): Promise<Uint8Array> {
  try {
    return await readOriginal(db, documentSeq);
  } catch (error) {
    throw error instanceof Failure ? gone() : error;
  }
}

function requireRequested(
  documents: readonly IntakeDocument[],
  { reportId }: ReportLocation,
): { readonly report: AggregateReport; readonly requested: RequestedContent } {
  for (const document of documents) {
    if (document.kind !== 'report') continue;
    const { report, requested } = document;
    if (requested !== undefined && toReportId(report) === reportId) return { report, requested };
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
