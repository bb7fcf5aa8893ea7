import { decodeUnicode } from '../document/xml-text.ts';
import { isGzip, isZlib } from './gzip.ts';
import { findSmime } from './smime.ts';
import { isTar } from './tar.ts';
import { decodeStart, UUENCODED } from './transfer-encoding.ts';

export type Kind =
  | 'gzip'
  | 'zlib'
  | 'zip'
  | 'tar'
  | 'base64'
  | 'uuencode'
  | 'mail'
  | 'signed'
  | 'encrypted'
  | 'xml'
  | 'html'
  | 'failure_report'
  | 'json'
  | 'empty'
  | 'other';

/** Local file header, end of an archive without members, spanning marker. */
const ZIP_SIGNATURES = ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08'];

const HTML = /^<(?:!doctype\s+html|html)\b/i;
/** `&lt;` begins an escaped report: broken XML, and the parser says where. `<a@b.example>` begins a mail's text. */
const XML = /^(?:<(?![\w.+-]+@|https?:)|&lt;)/;
/** What a text in base64 has to begin with, if not with an archive. */
const REPORT_START = /^\s*(?:<(?:\?xml|feedback)\b|\[?\s*\{\s*")/;
/** A text in square brackets is one of people: a list of reports has objects. */
const JSON_START = /^(?:\{|\[\s*\{)/;
const HEADER_LINE = /^(?:[!-9;-~]+:|[ \t])/;
const MAIL_FIELD =
  /^(?:from|to|subject|date|received|return-path|delivered-to|message-id|mime-version|dkim-signature|arc-seal|content-?type|content-transfer-encoding):/im;
const FAILURE_REPORT_FIELD = /^feedback-type:/im;

/** How much of the text is examined, after the blanks before it. */
const SNIFFED_BYTES = 16 * 1024;
const BLANKS: ReadonlySet<number | undefined> = new Set([9, 10, 11, 12, 13, 32]);
const PADDING: ReadonlySet<number | undefined> = new Set([0, ...BLANKS]);

/** A report in a text, from the beginning of a line on: gateways write a warning before what comes from outside. */
const REPORT_LINE = /^(?:<\?xml\s[^<>]*>\s*)?<(?:[\w.-]{1,40}:)?feedback[\s>]/m;

/** Where in a text of a mail a report begins; undefined where none does. */
export function findReportStart(head: Uint8Array): number | undefined {
  const at = Buffer.from(head.subarray(0, SNIFFED_BYTES)).toString('latin1').search(REPORT_LINE);
  return at > 0 ? at : undefined;
}

/** Where the content begins that it shows: archives may have blanks or zeros before them. */
interface Sniffed {
  readonly kind: Kind;
  readonly start: number;
}

/** Detected from the bytes alone: names, media types and subjects of reports are not reliable. */
export function sniff(head: Uint8Array): Sniffed {
  const smime = findSmime(head);
  if (smime !== undefined) return { kind: smime, start: 0 };
  if (isZlib(head)) return { kind: 'zlib', start: 0 };
  if (isTar(head)) return { kind: 'tar', start: 0 };
  const start = skip(head, PADDING);
  const archive = sniffArchive(head.subarray(start));
  if (archive !== undefined) return { kind: archive, start };
  const text = head.subarray(skip(head, BLANKS)).subarray(0, SNIFFED_BYTES);
  return { kind: sniffText(decodeUnicode(text).trimStart()), start: 0 };
}

function skip(head: Uint8Array, bytes: ReadonlySet<number | undefined>): number {
  let start = 0;
  while (bytes.has(head[start])) start += 1;
  return start;
}

function sniffArchive(head: Uint8Array): 'gzip' | 'zip' | undefined {
  if (isGzip(head)) return 'gzip';
  const signature = Buffer.from(head.subarray(0, 4)).toString('latin1');
  return ZIP_SIGNATURES.includes(signature) ? 'zip' : undefined;
}

function sniffText(text: string): Kind {
  if (text === '') return 'empty';
  if (HTML.test(text)) return 'html';
  if (XML.test(text)) return 'xml';
  if (JSON_START.test(text)) return 'json';
  const headers = headerBlock(text);
  if (FAILURE_REPORT_FIELD.test(headers)) return 'failure_report';
  if (MAIL_FIELD.test(headers)) return 'mail';
  if (UUENCODED.test(text)) return 'uuencode';
  const decoded = decodeStart(text);
  const isEncoded = decoded && (sniffArchive(decoded) ?? REPORT_START.test(decodeUnicode(decoded)));
  return isEncoded ? 'base64' : 'other';
}

/** The lines at the beginning that look like a mail header, after the line before a mail in a mailbox ("From ") or in a file of Apple's program. */
function headerBlock(text: string): string {
  const lines = text.split('\n');
  if (/^(?:From |\d{1,10}\s*$)/.test(lines[0] ?? '')) lines.shift();
  const end = lines.findIndex((line) => !HEADER_LINE.test(line));
  return lines.slice(0, end < 0 ? lines.length : end).join('\n');
}
