import libmime from 'libmime';
import type { Budget } from '../budget.ts';
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
  /** Encoded words are decoded (RFC 2047). */
  readonly subject: string;
  /**
   * The domain that a TLS report is about (RFC 8460, section 5.3). Nobody need have signed that, nor the name of a mail's only
   * part: undefined where names in the body may say it, null where none may.
   */
  readonly tlsDomain: string | null | undefined;
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
/** The fields that describe a body, and the spelling of Trustwave's gateway. */
const READ = new Set([
  ...['content-type', 'contenttype', 'content-disposition', 'content-transfer-encoding', 'subject'],
  'tls-report-domain',
]);
const MISSPELT = 'contenttype';
/** RFC 5322, 3.6.8. A fold may be before the colon (4.5.8). */
const NAME = /^([!-9;-~]+)[ \t\r\n]*:/;

/** Nested multiparts. The inner ones are searched again at each level. */
const MAX_NESTING = 8;
/** RFC 2046, 5.1.1 allows 70. */
const MAX_BOUNDARY_BYTES = 100;
/** Where the first boundary is looked for that the header does not name, and what it looks like. */
const GUESSED_BYTES = 16 * 1024;
const BOUNDARY = /^--([!-~](?:[ -~]{0,98}[!-~])?)[ \t]*\r?$/m;
/** Blanks after a boundary. A line with more of them is not a boundary. */
const MAX_BLANKS = 1_000;
const BLANK = /^\s*$/;
const DASH = 45;
const CARRIAGE_RETURN = 13;
const NEWLINE = 10;

interface Outer {
  readonly nesting: number;
  readonly mail?: Pick<MimeHeader, 'subject' | 'tlsDomain'>;
  /** The header is one of which is known who wrote it: only its fields as they are spelt count, and no others are guessed. */
  readonly isVerified?: boolean | undefined;
}

/** The parts that are not multiparts themselves, in order, each with what the mail says of all. */
export function* splitParts(
  mail: Buffer,
  { budget, log }: Inherited,
  { nesting, isVerified, ...outer }: Outer = { nesting: 0 },
): Generator<MimePart> {
  budget.addMember();
  const { end, start } = findBody(mail, budget);
  const header = parseMimeHeader(mail.subarray(0, end), { budget, log }, isVerified);
  const { subject, tlsDomain } = outer.mail ?? header;
  const part = { ...header, subject, tlsDomain, body: mail.subarray(start) };
  const boundary = nesting < MAX_NESTING ? findBoundary(part, budget) : undefined;
  if (boundary !== undefined)
    for (const inner of splitAt(part.body, boundary, budget))
      yield* splitParts(inner, { budget, log }, { nesting: nesting + 1, mail: part });
  // A multipart whose header does not end has no body.
  else if (part.body.length > 0 || !isMultipart(part)) yield part;
}

export function findBody(bytes: Buffer, budget: Budget): { end: number; start: number } {
  const blank = /^\r?\n/.exec(bytes.toString('latin1', 0, 2))?.[0].length;
  if (blank !== undefined) return { end: 0, start: blank };
  for (const next of lineStarts(bytes, budget)) {
    if (bytes[next] === NEWLINE) return { end: next, start: next + 1 };
    if (bytes[next] === CARRIAGE_RETURN && bytes[next + 1] === NEWLINE)
      return { end: next, start: next + 2 };
  }
  return { end: bytes.length, start: bytes.length };
}

/**
 * Where lines begin behind the first one. Each is spent for: to search for what is at the beginning of a line, a boundary
 * above all, takes quadratic time where other lines are nearly the same.
 */
function* lineStarts(bytes: Buffer, budget: Budget): Generator<number> {
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    budget.spend('line');
    yield at + 1;
  }
}

export const isMultipart = ({ type }: Pick<MimeHeader, 'type'>): boolean =>
  /^multipart\//i.test(type.value);

/** Of a multipart, the boundary that its header names; when no line is that one, the first that looks like one. */
function findBoundary({ type, body }: MimePart, budget: Budget): Buffer | undefined {
  if (!isMultipart({ type })) return undefined;
  const named = Buffer.from(type.params.get('boundary') ?? '');
  const isPossible = named.length > 0 && named.length <= MAX_BOUNDARY_BYTES;
  if (isPossible && !boundaryLines(body, named, budget).next().done) return named;
  const guessed = BOUNDARY.exec(body.toString('latin1', 0, GUESSED_BYTES))?.[1];
  return guessed === undefined ? undefined : Buffer.from(guessed);
}

/** The bytes between the boundary lines; to the end when the closing one is missing. */
function* splitAt(body: Buffer, boundary: Buffer, budget: Budget): Generator<Buffer> {
  let start: number | undefined;
  for (const { line, next, isClosing } of boundaryLines(body, boundary, budget)) {
    if (start !== undefined) yield body.subarray(start, Math.max(start, beforeNewline(body, line)));
    start = next;
    if (isClosing) return;
  }
  if (start !== undefined) yield body.subarray(start);
}

function* boundaryLines(body: Buffer, boundary: Buffer, budget: Budget) {
  for (const line of linesWithDashes(body, budget)) {
    budget.spend('match');
    const end = line + 2 + boundary.length;
    if (!boundary.equals(body.subarray(line + 2, end))) continue;
    const newline = body.indexOf(NEWLINE, end);
    const next = newline < 0 ? body.length : newline + 1;
    if (next - end > MAX_BLANKS) continue;
    const rest = body.toString('latin1', end, next);
    const isClosing = rest.startsWith('--');
    // Otherwise it is a longer boundary, of a multipart inside this one.
    if (BLANK.test(isClosing ? rest.slice(2) : rest)) yield { line, next, isClosing };
  }
}

function* linesWithDashes(body: Buffer, budget: Budget): Generator<number> {
  const hasDashes = (at: number) => body[at] === DASH && body[at + 1] === DASH;
  if (hasDashes(0)) yield 0;
  for (const at of lineStarts(body, budget)) if (hasDashes(at)) yield at;
}

/** The line end before a boundary belongs to the boundary (RFC 2046, 5.1.1). */
function beforeNewline(body: Buffer, line: number): number {
  return body[line - 2] === CARRIAGE_RETURN ? line - 2 : line - 1;
}

export function parseMimeHeader(
  bytes: Buffer,
  inherited: Inherited,
  isVerified = false,
): MimeHeader {
  const fields = readFields(bytes, inherited, isVerified);
  const [encoding = ''] = /[\w-]+/.exec(fields.get('content-transfer-encoding') ?? '') ?? [];
  const type = parseField(fields.get('content-type'));
  const signedDomain = isMultipart({ type }) ? undefined : null;
  return {
    type,
    disposition: parseField(fields.get('content-disposition')),
    // A multipart has none (RFC 2045, 6.4), so it need not be signed.
    encoding: isVerified && isMultipart({ type }) ? '' : encoding,
    subject: libmime.decodeWords(fields.get('subject') ?? ''),
    tlsDomain: isVerified ? signedDomain : fields.get('tls-report-domain')?.trim(),
  };
}

/** A field of a header: the reader and the check of signatures have one list of them. */
export interface Field {
  /** In lower case; empty for a line that is no field. */
  readonly name: string;
  /** With its name, and with the line ends of its folds. */
  readonly text: string;
}

export function splitFields(header: string): Field[] {
  const rows = header.split(/\r?\n(?![ \t])/);
  return rows.map((text) => ({ name: NAME.exec(text)?.[1]?.toLowerCase() ?? '', text }));
}

/** The fields that describe a body, by their names in lower case. */
function readFields(
  bytes: Buffer,
  { budget, log }: Inherited,
  isVerified: boolean,
): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  const head = bytes.toString('utf8', 0, MAX_HEADER_BYTES);
  budget.spend('decodedByte', head.length);
  for (const { name, text } of splitFields(head)) {
    if (!READ.has(name) || (isVerified && name === MISSPELT)) continue;
    if (name === MISSPELT) log.add('misspelt_content_type');
    const key = name === MISSPELT ? 'content-type' : name;
    const value = text.slice(text.indexOf(':') + 1).replace(/\r?\n(?=[ \t])/g, '');
    if (!fields.has(key)) fields.set(key, value.slice(0, MAX_FIELD_CHARS).trim());
  }
  for (const { length } of fields.values()) budget.spend('fieldChar', length);
  return fields;
}

function parseField(text = ''): StructuredField {
  const { value, params } = libmime.parseHeaderValue(text);
  return { value: value || '', params: new Map(Object.entries(params)) };
}
