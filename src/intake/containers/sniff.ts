import { decodeHead } from '../document/xml-text.ts';
import { isGzip, isZlib } from './gzip.ts';
import { findSmime } from './smime.ts';

export type Kind =
  | 'gzip'
  | 'zlib'
  | 'zip'
  | 'mail'
  | 'signed'
  | 'encrypted'
  | 'xml'
  | 'html'
  | 'failure_report'
  | 'tls_report'
  | 'empty'
  | 'other';

/** Local file header, end of an archive without members, spanning marker. */
const ZIP_SIGNATURES = ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08'];

const HTML = /^<(?:!doctype\s+html|html)\b/i;
/** `&lt;` begins an escaped report: broken XML, and the parser says where. `<a@b.example>` begins a mail's text. */
const XML = /^(?:<(?![\w.+-]+@|https?:)|&lt;)/;
const TLS_REPORT = /^\{[\s\S]*"(?:organization-name|report-id|contact-info|policies)"\s*:/;
const HEADER_LINE = /^(?:[!-9;-~]+:|[ \t])/;
const MAIL_FIELD =
  /^(?:from|to|subject|date|received|return-path|delivered-to|message-id|mime-version|dkim-signature|arc-seal|content-?type|content-transfer-encoding):/im;
const FAILURE_REPORT_FIELD = /^feedback-type:/im;

/** How much of the text is examined, after the blanks before it. */
const SNIFFED_BYTES = 16 * 1024;
const BLANKS: ReadonlySet<number | undefined> = new Set([9, 10, 11, 12, 13, 32]);

/** Detected from the bytes alone: names, media types and subjects of reports are not reliable. */
export function sniff(head: Uint8Array): Kind {
  if (isGzip(head)) return 'gzip';
  if (isZlib(head)) return 'zlib';
  if (ZIP_SIGNATURES.includes(Buffer.from(head.subarray(0, 4)).toString('latin1'))) return 'zip';
  const smime = findSmime(head);
  if (smime !== undefined) return smime;
  let start = 0;
  while (BLANKS.has(head[start])) start += 1;
  return sniffText(decodeHead(head.subarray(start, start + SNIFFED_BYTES)).trimStart());
}

function sniffText(text: string): Kind {
  if (text === '') return 'empty';
  if (HTML.test(text)) return 'html';
  if (XML.test(text)) return 'xml';
  if (TLS_REPORT.test(text)) return 'tls_report';
  const headers = headerBlock(text);
  if (FAILURE_REPORT_FIELD.test(headers)) return 'failure_report';
  return MAIL_FIELD.test(headers) ? 'mail' : 'other';
}

/** The lines at the beginning that look like a mail header, after the "From " line of a mailbox. */
function headerBlock(text: string): string {
  const lines = text.split('\n');
  if (lines[0]?.startsWith('From ')) lines.shift();
  const end = lines.findIndex((line) => !HEADER_LINE.test(line));
  return lines.slice(0, end < 0 ? lines.length : end).join('\n');
}
