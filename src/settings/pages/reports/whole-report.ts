import { Readable } from 'node:stream';
import { type ReportContent, unpackContent } from '../../../domain/reports/report-content.ts';
import { findReport, type ReportOfAccount } from '../../../store/reports/report-of-account.ts';
import type { PageHandler } from '../../deps.ts';
import { sendDownload } from '../../frame/download.ts';
import { reportScopeOf, toFileName } from './report.ts';

/*
 * A report as it was understood, with the names of RFC 9990: for programs that want no archives, and for reports whose
 * originals were not kept. Of a report with more records than are kept, it says how many are missing.
 */

type JsonValue =
  | string
  | number
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

export const sendReportAsJson = createSender('json', 'application/json', toJson);
export const sendReportAsXml = createSender('xml', 'application/xml; charset=utf-8', toXml);

function createSender(ending: string, type: string, toTexts: typeof toXml): PageHandler {
  return async ({ store }, req, res) => {
    const report = await findReport(store.reader, reportScopeOf(req, res));
    const texts = toTexts(report, unpackContent(report.content));
    const fileName = `${toFileName(report)}.${ending}`;
    await sendDownload(res, { fileName, type, streams: [Readable.from(texts)] });
  };
}

/** The text is made in pieces, because a report may have 10,000 records. */
function* toJson(report: ReportOfAccount, content: ReportContent): Generator<string> {
  const head = { ...toHead(report, content), records_missing: content.others.recordCount };
  yield `${JSON.stringify(head).slice(0, -1)},"record":[\n`;
  for (const [i, record] of content.records.entries())
    yield `${i === 0 ? '' : ',\n'}${JSON.stringify(toRecord(record))}`;
  yield '\n]}\n';
}

function* toXml(report: ReportOfAccount, content: ReportContent): Generator<string> {
  const missing = content.others.recordCount;
  yield '<?xml version="1.0" encoding="UTF-8"?>\n<feedback>\n';
  for (const [name, value] of Object.entries(toHead(report, content)))
    yield `${toElement(name, value)}\n`;
  for (const record of content.records) yield `${toElement('record', toRecord(record))}\n`;
  yield `${missing === 0 ? '' : `<!-- ${missing} more records -->\n`}</feedback>\n`;
}

function toElement(name: string, value: JsonValue): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.map((one) => toElement(name, one)).join('');
  return `<${name}>${typeof value === 'object' ? toElements(value) : toText(`${value}`)}</${name}>`;
}

function toElements(values: object): string {
  return Object.entries(values)
    .map(([name, value]) => toElement(name, value))
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A carriage return would be read as a line feed. */
function toText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => ENTITIES[character] ?? '&#13;');
}

const toSeconds = (instant: string) => Date.parse(instant) / 1000;

function toHead(report: ReportOfAccount, content: ReportContent) {
  const { discoveryMethod: discovery_method, domain, p, ...others } = content.policyPublished;
  const { sp, np, adkim, aspf, pct, fo, testing } = others;
  const policy = { domain, discovery_method, p, sp, np, adkim, aspf, pct, fo, testing };
  return {
    version: content.version,
    report_metadata: {
      org_name: report.reporter_org,
      email: report.reporter_email,
      extra_contact_info: content.extraContactInfo,
      report_id: report.report_id,
      date_range: { begin: toSeconds(report.begin_date), end: toSeconds(report.end_date) },
      error: content.errors,
      generator: content.generator,
    },
    policy_published: policy,
  };
}

function toRecord(record: ReportContent['records'][number]) {
  const { sourceIp, count, policyEvaluated, identifiers, authResults } = record;
  const { disposition, dkim, spf, reasons: reason } = policyEvaluated;
  const evaluated = { disposition, dkim, spf, reason };
  return {
    row: { source_ip: sourceIp, count, policy_evaluated: evaluated },
    identifiers: {
      envelope_to: identifiers.envelopeTo,
      envelope_from: identifiers.envelopeFrom,
      header_from: identifiers.headerFrom,
    },
    auth_results: { dkim: authResults.dkim.map(toResult), spf: authResults.spf.map(toResult) },
  };
}

function toResult<R extends { readonly humanResult: string | null }>(result: R) {
  const { humanResult: human_result, ...others } = result;
  return { ...others, human_result };
}
