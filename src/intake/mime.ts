import type { WarningLog } from './warnings.ts';

/**
 * A mail taken apart into its parts (RFC 2045, 2046), by slicing: no part is copied before it is
 * decoded, and a part in 7bit keeps its bytes, line ends too. The library tried first holds an
 * object for every line: 40 MB of blank lines took it past 4 GB.
 */
export interface MimePart {
  /** By name in lower case, unfolded; of a repeated field the first. */
  readonly headers: ReadonlyMap<string, string>;
  /** As it was sent, in its transfer encoding. */
  readonly body: Buffer;
}

const MAX_HEADER_BYTES = 256 * 1024;
const MAX_NESTING = 32;
/** As Trustwave's gateway writes it. */
const MISSPELT_CONTENT_TYPE = 'contenttype';
const FIELD = /^([!-9;-~]+)[ \t]*:(.*)$/s;
const CARRIAGE_RETURN = 13;
const NEWLINE = 10;

/** The parts that are no multiparts themselves, in order. What is no multipart is its one part. */
export function* splitParts(mail: Buffer, log: WarningLog, nesting = 0): Generator<MimePart> {
  const part = toPart(mail, log);
  const boundary = boundaryOf(part.headers.get('content-type') ?? '');
  if (boundary === undefined || nesting >= MAX_NESTING) yield part;
  else for (const inner of splitAt(part.body, boundary)) yield* splitParts(inner, log, nesting + 1);
}

/** A parameter's value, `undefined` when the header field has none of that name. */
export function parameterOf(field: string, name: string): string | undefined {
  const pattern = new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]*))`, 'i');
  const [, quoted, plain] = pattern.exec(field) ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? plain;
}

function toPart(bytes: Buffer, log: WarningLog): MimePart {
  const { end, body } = findBlankLine(bytes);
  const head = bytes.toString('utf8', 0, Math.min(end, MAX_HEADER_BYTES));
  const headers = new Map<string, string>();
  for (const line of head.replace(/\r?\n(?=[ \t])/g, '').split(/\r?\n/)) {
    const [, name, value] = FIELD.exec(line) ?? [];
    const key = name?.toLowerCase() ?? '';
    if (key === MISSPELT_CONTENT_TYPE) log.add('misspelt_content_type');
    const known = key === MISSPELT_CONTENT_TYPE ? 'content-type' : key;
    if (value !== undefined && !headers.has(known)) headers.set(known, value.trim());
  }
  return { headers, body: bytes.subarray(body) };
}

/** Where the header ends, and where the body begins. */
function findBlankLine(bytes: Buffer): { end: number; body: number } {
  const start = /^\r?\n/.exec(bytes.toString('latin1', 0, 2))?.[0].length;
  if (start !== undefined) return { end: 0, body: start };
  const positions = ['\n\n', '\n\r\n'].map((blank) => ({
    end: bytes.indexOf(blank),
    length: blank.length,
  }));
  const [first] = positions.filter(({ end }) => end >= 0).sort((a, b) => a.end - b.end);
  if (first === undefined) return { end: bytes.length, body: bytes.length };
  return { end: first.end, body: first.end + first.length };
}

function boundaryOf(contentType: string): string | undefined {
  if (!/^multipart\//i.test(contentType)) return undefined;
  return parameterOf(contentType, 'boundary') || undefined;
}

/** What stands between the boundary's lines; to the end, when the closing one is missing. */
function* splitAt(body: Buffer, boundary: string): Generator<Buffer> {
  let start: number | undefined;
  for (const { line, next, isClosing } of boundaryLines(body, boundary)) {
    if (start !== undefined) yield body.subarray(start, Math.max(start, beforeNewline(body, line)));
    start = next;
    if (isClosing) return;
  }
  if (start !== undefined) yield body.subarray(start);
}

interface BoundaryLine {
  readonly line: number;
  readonly next: number;
  readonly isClosing: boolean;
}

function* boundaryLines(body: Buffer, boundary: string): Generator<BoundaryLine> {
  const delimiter = Buffer.from(`--${boundary}`);
  for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, at + 1)) {
    if (at > 0 && body[at - 1] !== NEWLINE) continue;
    const end = body.indexOf(NEWLINE, at);
    const next = end < 0 ? body.length : end + 1;
    const rest = body.toString('latin1', at + delimiter.length, next).trim();
    // Anything else is a longer boundary, of a multipart inside this one.
    if (rest === '' || rest === '--') yield { line: at, next, isClosing: rest === '--' };
  }
}

/** The line end before a boundary is the boundary's (RFC 2046, 5.1.1). */
function beforeNewline(body: Buffer, line: number): number {
  return body[line - 2] === CARRIAGE_RETURN ? line - 2 : line - 1;
}
