import type {
  AggregateReport,
  ReportRecord,
  ReportTally,
} from '../../domain/reports/aggregate-report.ts';
import { addToTally, EMPTY_TALLY, MAX_REPORT_MESSAGES } from '../../domain/reports/alignment.ts';
import { LargestRecords, type RecordText } from '../../domain/reports/largest-records.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import { packContent } from '../../domain/reports/report-content.ts';
import { hashPayload } from '../../domain/reports/report-identity.ts';
import { toSizeText } from '../../domain/size.ts';
import { type Budget, estimateStored } from '../budget.ts';
import { type Content, peek, slice } from '../content.ts';
import { cutText } from '../document/copy-text.ts';
import type { Element } from '../document/element.ts';
import { ReportTree } from '../document/tree.ts';
import { XmlParser } from '../document/xml.ts';
import { XmlText } from '../document/xml-text.ts';
import { MAX_DOCUMENT_BYTES, MAX_NAMESPACE_CHARS } from '../limits.ts';
import type { WarningLog } from '../warnings.ts';
import { toMetadata } from './metadata.ts';
import { toPolicyPublished } from './policy.ts';
import { toRecord } from './record.ts';

export interface FeedbackOptions {
  readonly log: WarningLog;
  /** The time of receipt, in milliseconds: a report that begins in the future gets a warning. */
  readonly nowMs: number;
  /** What a mail says of its encoding. */
  readonly charset?: string | undefined;
  /** The remaining budget of the input that the document is in. */
  readonly budget: Budget;
  /** Gets every record once, in order, before the rest of the document is read. */
  readonly onRecord?: (record: ReportRecord) => void;
}

/** The report in an XML document (RFC 7489 appendix C, RFC 9990). Throws a Refusal. */
export async function readFeedback(
  content: Content,
  { log, nowMs, budget, charset, onRecord }: FeedbackOptions,
): Promise<AggregateReport> {
  let tally = EMPTY_TALLY;
  const largest = new LargestRecords();
  const tree = new ReportTree(log, (element) => {
    const record = toRecord(element);
    budget.spend('record');
    if (record === undefined) return;
    tally = addSafely(tally, record, element);
    largest.add(record);
    onRecord?.(record);
  });
  const parser = new XmlParser(tree, log);
  const size = await readXml(content, parser, { log, budget, charset });
  const parts = { ...toParts(tree, nowMs), xmlNamespace: toNamespace(parser, log), tally };
  const held = size > MAX_HELD_BYTES ? copy(parts) : parts;
  const gathered = largest.end();
  const kept = keepRecords(held, gathered, { log, budget });
  const payloadSha256 = hashPayload(held, gathered);
  return { ...held, ...kept, warnings: log.toList(), payloadSha256 };
}

/** Texts of the tree are slices of the document, and keep it in memory, so those of a larger one are copied. */
const MAX_HELD_BYTES = 64 * 1024;

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value));

function toNamespace({ namespace }: XmlParser, log: WarningLog): string | null {
  if (namespace === null || namespace.length <= MAX_NAMESPACE_CHARS) return namespace;
  log.add('long_value');
  return cutText(namespace, MAX_NAMESPACE_CHARS);
}

type Parts = Omit<AggregateReport, 'content' | 'warnings' | 'payloadSha256'>;

/**
 * Spends the report's size from the budget. While there is no room, the half with fewer messages is left out: the records
 * with the most come first.
 */
function keepRecords(
  parts: Parts,
  records: readonly RecordText[],
  { log, budget }: Pick<FeedbackOptions, 'log' | 'budget'>,
): Pick<AggregateReport, 'content'> {
  for (let { length: count } = records; ; count = Math.floor(count / 2)) {
    const report = { content: packContent(parts, records.slice(0, count)) };
    const bytes = estimateStored({ ...parts, ...report });
    if (bytes > budget.keepable && count > 0) continue;
    budget.keep(bytes);
    if (count < records.length) log.add('records_cut');
    return report;
  }
}

function addSafely(before: ReportTally, record: ReportRecord, element: Element): ReportTally {
  const tally = addToTally(before, record);
  if (tally.totalMessages <= MAX_REPORT_MESSAGES) return tally;
  const message = `The report counts more than ${MAX_REPORT_MESSAGES} messages.`;
  throw element.refusal('count_too_large', message);
}

function toParts(
  { root, recordCount }: ReportTree,
  nowMs: number,
): Pick<Parts, 'version' | 'metadata' | 'policyPublished'> {
  if (recordCount === 0) root.warn('no_records');
  return {
    version: root.value('version'),
    metadata: toMetadata(root.child('report_metadata'), nowMs),
    policyPublished: toPolicyPublished(root.child('policy_published')),
  };
}

/** Returns the number of the document's bytes. */
async function readXml(
  content: Content,
  parser: XmlParser,
  { log, budget, charset }: Pick<FeedbackOptions, 'log' | 'budget' | 'charset'>,
) {
  const { head, whole } = await peek(content);
  const text = new XmlText(parser, head, log, charset);
  let size = 0;
  let broken: Refusal | undefined;
  for await (const bytes of slice(whole)) {
    size += bytes.length;
    if (size > MAX_DOCUMENT_BYTES)
      throw new Refusal(
        'too_large',
        `The document is larger than ${toSizeText(MAX_DOCUMENT_BYTES)}.`,
      );
    // A broken document may also be a bomb, and that error takes precedence. So the rest is only counted.
    if (broken !== undefined) continue;
    const { tokens } = text;
    broken = attempt(() => text.write(bytes));
    budget.spend('xmlByte', bytes.length);
    budget.spend('token', text.tokens - tokens);
  }
  broken ??= attempt(() => text.end());
  if (broken !== undefined) throw broken;
  return size;
}

/** Runs a step of the parser. Returns the error of broken XML; throws any other. */
function attempt(step: () => void): Refusal | undefined {
  try {
    step();
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'bad_xml') return error;
    throw error;
  }
  return undefined;
}
