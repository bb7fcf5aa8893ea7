import libmime from 'libmime';
import type { WarningLog } from '../warnings.ts';

/** A header field with parameters (RFC 2045, 5.1). */
export interface StructuredField {
  readonly value: string;
  /** By name in lower case. Continuations are joined and encodings are decoded (RFC 2231). */
  readonly params: ReadonlyMap<string, string>;
}

/** The fields of a part's header that describe its body. Of a repeated field the first is used. */
export interface MimeHeader {
  readonly type: StructuredField;
  readonly disposition: StructuredField;
  /** A word such as `base64`; empty when there is none. */
  readonly encoding: string;
}

const MAX_HEADER_BYTES = 256 * 1024;
/** A longer field with parameters is cut. Names of files and boundaries are much shorter. */
const MAX_FIELD_CHARS = 16 * 1024;
/** The spelling of Trustwave's gateway. */
const MISSPELT_CONTENT_TYPE = 'contenttype';
const FIELD =
  /^(content-type|contenttype|content-disposition|content-transfer-encoding)[ \t]*:(.*)$/is;

/** Reads the header of a mail or of one of its parts. */
export function parseMimeHeader(bytes: Buffer, log: WarningLog): MimeHeader {
  const fields = new Map<string, string>();
  const head = bytes.toString('utf8', 0, MAX_HEADER_BYTES);
  for (const line of head.replace(/\r?\n(?=[ \t])/g, '').split(/\r?\n/)) {
    const [, name = '', value] = FIELD.exec(line) ?? [];
    if (value === undefined) continue;
    const key = correct(name.toLowerCase(), log);
    if (!fields.has(key)) fields.set(key, value.slice(0, MAX_FIELD_CHARS).trim());
  }
  const [encoding = ''] = /[\w-]+/.exec(fields.get('content-transfer-encoding') ?? '') ?? [];
  return {
    type: parseField(fields.get('content-type')),
    disposition: parseField(fields.get('content-disposition')),
    encoding,
  };
}

function correct(name: string, log: WarningLog): string {
  if (name !== MISSPELT_CONTENT_TYPE) return name;
  log.add('misspelt_content_type');
  return 'content-type';
}

function parseField(text = ''): StructuredField {
  const { value, params } = libmime.parseHeaderValue(text);
  return { value: value || '', params: new Map(Object.entries(params)) };
}
