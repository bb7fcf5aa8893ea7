import { Refusal } from '../../domain/reports/refusal.ts';
import { TLS_KEYS, type TlsReport } from '../../domain/reports/tls-report.ts';
import type { Budget } from '../budget.ts';
import { type Content, collect } from '../content.ts';
import { type Json, type JsonObject, readJson } from '../document/json.ts';
import { createDecoder, decodeUnicode } from '../document/xml-text.ts';
import { MAX_DOCUMENT_BYTES } from '../limits.ts';
import type { WarningLog } from '../warnings.ts';
import { type TlsOptions, toTlsReports } from './tls-report.ts';
import { isObject } from './values.ts';

interface ReadOptions extends TlsOptions {
  readonly budget: Budget;
  readonly charset?: string | undefined;
}

const EXAMINED_BYTES = 16 * 1024;
const KEY_IN_TEXT = new RegExp(`"(${TLS_KEYS.join('|')})"\\s*:`, 'g');

/** Whether the beginning of a text has two of the keys: a person's JSON may have one. */
export function hasTlsKeys(head: Uint8Array): boolean {
  const found = decodeUnicode(head.subarray(0, EXAMINED_BYTES)).matchAll(KEY_IN_TEXT);
  return new Set([...found].map(([, key]) => key)).size >= 2;
}

/** The reports in a JSON text, at least one. Throws a Refusal. */
export async function readTls(
  content: Content,
  options: ReadOptions,
): Promise<readonly TlsReport[]> {
  const { budget, log } = options;
  const text = await decode(content, options);
  const { value, end } = readJson(text, { budget, digits: 'report-id' });
  const objects = toList(value).filter(isReport);
  if (objects.length === 0) throw OTHER_JSON;
  checkRest(text.slice(end), log);
  return objects.flatMap((object) => toTlsReports(object, options));
}

const OTHER_JSON = new Refusal('no_report', 'It is JSON, and not a report.');

const toList = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [value as Json]);

/** With `policies` two of the keys, without it three: JSON of people often has one. */
function isReport(value: Json): value is JsonObject {
  if (!isObject(value)) return false;
  const keys = TLS_KEYS.filter((key) => Object.hasOwn(value, key));
  return keys.length >= (keys.includes('policies') ? 2 : 3);
}

function checkRest(rest: string, log: WarningLog): void {
  if (/^[\s\0]*\{/.test(rest)) throw new Refusal('bad_json', 'Another object follows the report.');
  if (rest.trim() !== '') log.add('text_after_report');
}

async function decode(
  content: Content,
  { budget, log, charset }: Pick<ReadOptions, 'budget' | 'log' | 'charset'>,
): Promise<string> {
  const bytes = await collect(content, MAX_DOCUMENT_BYTES);
  budget.spend('xmlByte', bytes.length);
  const text = createDecoder(bytes, log, charset).decode(bytes);
  if (text.includes('\uFFFD')) log.add('unreadable_characters');
  return text;
}
