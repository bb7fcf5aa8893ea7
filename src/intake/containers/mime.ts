import libmime from 'libmime';
import type { Budget } from '../budget.ts';
import type { WarningLog } from '../warnings.ts';
import type { Inherited } from './member.ts';

/** A header field with parameters (RFC 2045, 5.1). */
interface StructuredField {
  readonly value: string;
  /** The parameters by name in lower case. Continuations are joined and encodings are decoded (RFC 2231). */
  readonly params: ReadonlyMap<string, string>;
}

/** The fields of a part's header that describe its body. Only the first of a repeated field is used. */
interface MimeHeader {
  readonly type: StructuredField;
  readonly disposition: StructuredField;
  /** A word such as `base64`; empty when there is none. */
  readonly encoding: string;
}

/**
 * Splits a mail into its parts (RFC 2045, 2046) by slicing: no part is copied before it is decoded, and a part in
 * 7bit keeps its bytes, including line ends. The library tried first keeps an object for every line: 40 MB of blank
 * lines needed more than 4 GB.
 */
export interface MimePart extends MimeHeader {
  /** The body as sent, in its transfer encoding. */
  readonly body: Buffer;
}

const MAX_HEADER_BYTES = 256 * 1024;
/** A longer field with parameters is cut. Names of files and boundaries are much shorter. */
const MAX_FIELD_CHARS = 4 * 1024;
const FIELD =
  /^(content-type|contenttype|content-disposition|content-transfer-encoding)[ \t]*:(.*)$/is;

/** Nested multiparts. The inner ones are searched again at each level. */
const MAX_NESTING = 8;
/** RFC 2046, 5.1.1 allows 70. */
const MAX_BOUNDARY_CHARS = 256;
/** Blanks after a boundary. A line with more of them is not a boundary. */
const MAX_BLANKS = 1_000;
const BLANK = /^\s*$/;
const CARRIAGE_RETURN = 13;
const NEWLINE = 10;

/** The parts that are not multiparts themselves, in order. A mail that is not a multipart is its only part. */
export function* splitParts(
  mail: Buffer,
  { budget, log }: Inherited,
  nesting = 0,
): Generator<MimePart> {
  budget.addMember();
  const { end, start } = findBody(mail);
  const part = { ...parseMimeHeader(mail.subarray(0, end), log), body: mail.subarray(start) };
  const boundary = boundaryOf(part);
  if (boundary === undefined || nesting >= MAX_NESTING) return yield part;
  for (const inner of splitAt(part.body, boundary, budget))
    yield* splitParts(inner, { budget, log }, nesting + 1);
}

function findBody(bytes: Buffer): { end: number; start: number } {
  const blank = /^\r?\n/.exec(bytes.toString('latin1', 0, 2))?.[0].length;
  if (blank !== undefined) return { end: 0, start: blank };
  const withReturn = bytes.indexOf('\n\r\n');
  const before = withReturn < 0 ? bytes : bytes.subarray(0, withReturn);
  const without = before.indexOf('\n\n');
  if (without >= 0) return { end: without, start: without + 2 };
  if (withReturn >= 0) return { end: withReturn, start: withReturn + 3 };
  return { end: bytes.length, start: bytes.length };
}

function boundaryOf({ type }: MimeHeader): string | undefined {
  if (!/^multipart\//i.test(type.value)) return undefined;
  const boundary = type.params.get('boundary') ?? '';
  return boundary === '' || boundary.length > MAX_BOUNDARY_CHARS ? undefined : boundary;
}

/** The bytes between the boundary lines; to the end when the closing one is missing. */
function* splitAt(body: Buffer, boundary: string, budget: Budget): Generator<Buffer> {
  let start: number | undefined;
  for (const { line, next, isClosing } of boundaryLines(body, boundary, budget)) {
    if (start !== undefined) yield body.subarray(start, Math.max(start, beforeNewline(body, line)));
    start = next;
    if (isClosing) return;
  }
  if (start !== undefined) yield body.subarray(start);
}

function* boundaryLines(body: Buffer, boundary: string, budget: Budget) {
  for (const line of linesWith(body, `--${boundary}`)) {
    const end = body.indexOf(NEWLINE, line.end);
    const next = end < 0 ? body.length : end + 1;
    budget.spend('match');
    if (next - line.end > MAX_BLANKS) continue;
    const rest = body.toString('latin1', line.end, next);
    const isClosing = rest.startsWith('--');
    // Otherwise it is a longer boundary, of a multipart inside this one.
    if (BLANK.test(isClosing ? rest.slice(2) : rest)) yield { line: line.at, next, isClosing };
  }
}

function* linesWith(body: Buffer, text: string): Generator<{ at: number; end: number }> {
  const { length } = Buffer.from(text);
  if (body.toString('utf8', 0, length) === text) yield { at: 0, end: length };
  const delimiter = Buffer.from(`\n${text}`);
  for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, at + 1))
    yield { at: at + 1, end: at + 1 + length };
}

/** The line end before a boundary belongs to the boundary (RFC 2046, 5.1.1). */
function beforeNewline(body: Buffer, line: number): number {
  return body[line - 2] === CARRIAGE_RETURN ? line - 2 : line - 1;
}

function parseMimeHeader(bytes: Buffer, log: WarningLog): MimeHeader {
  const fields = new Map<string, string>();
  const head = bytes.toString('utf8', 0, MAX_HEADER_BYTES);
  for (const line of head.replace(/\r?\n(?=[ \t])/g, '').split(/\r?\n/)) {
    const [, name = '', value] = FIELD.exec(line) ?? [];
    if (value === undefined) continue;
    // The spelling of Trustwave's gateway.
    const isMisspelt = name.toLowerCase() === 'contenttype';
    if (isMisspelt) log.add('misspelt_content_type');
    const key = isMisspelt ? 'content-type' : name.toLowerCase();
    if (!fields.has(key)) fields.set(key, value.slice(0, MAX_FIELD_CHARS).trim());
  }
  const [encoding = ''] = /[\w-]+/.exec(fields.get('content-transfer-encoding') ?? '') ?? [];
  return {
    type: parseField(fields.get('content-type')),
    disposition: parseField(fields.get('content-disposition')),
    encoding,
  };
}

function parseField(text = ''): StructuredField {
  const { value, params } = libmime.parseHeaderValue(text);
  return { value: value || '', params: new Map(Object.entries(params)) };
}
