import { decodeHead } from './decode.ts';
import { isGzip, isZlib } from './gzip.ts';

export type Kind =
  | 'gzip'
  | 'zlib'
  | 'zip'
  | 'mail'
  | 'xml'
  | 'html'
  | 'failure_report'
  | 'tls_report'
  | 'empty'
  | 'other';

/** Local file header, end of an archive without members, spanning marker. */
const ZIP_SIGNATURES = ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08'];

const HTML = /^<(?:!doctype\s+html|html)\b/i;
/**
 * An escaped report begins with `&lt;`: it is XML gone wrong, and the parser says where. A mail's
 * text that begins with `<someone@example.com>` is none.
 */
const XML = /^(?:<(?![\w.+-]+@|https?:)|&lt;)/;
const TLS_REPORT = /^\{[\s\S]*"(?:organization-name|report-id|contact-info|policies)"\s*:/;
const HEADER_BLOCK = /^(?:From [^\n]*\n)?(?:(?:[!-9;-~]+:|[ \t])[^\n]*(?:\n|$))+/;
const MAIL_FIELD =
  /^(?:from|to|subject|date|received|return-path|delivered-to|message-id|mime-version|dkim-signature|arc-seal|content-?type|content-transfer-encoding):/im;
const FAILURE_REPORT_FIELD = /^feedback-type:/im;

/** What some bytes are, by the bytes alone: names, media types and subjects of reports all lie. */
export function sniff(head: Uint8Array): Kind {
  if (isGzip(head)) return 'gzip';
  if (isZlib(head)) return 'zlib';
  if (ZIP_SIGNATURES.includes(Buffer.from(head.subarray(0, 4)).toString('latin1'))) return 'zip';
  return sniffText(decodeHead(head).trimStart());
}

function sniffText(text: string): Kind {
  if (text === '') return 'empty';
  if (HTML.test(text)) return 'html';
  if (XML.test(text)) return 'xml';
  if (TLS_REPORT.test(text)) return 'tls_report';
  const headers = HEADER_BLOCK.exec(text)?.[0] ?? '';
  if (FAILURE_REPORT_FIELD.test(headers)) return 'failure_report';
  return MAIL_FIELD.test(headers) ? 'mail' : 'other';
}
