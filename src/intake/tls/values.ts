import { parseIpAddress } from '../../domain/ip-address.ts';
import { Refusal } from '../../domain/reports/refusal.ts';
import { cutText } from '../document/copy-text.ts';
import type { Json, JsonObject } from '../document/json.ts';
import { FORBIDDEN } from '../document/repair.ts';
import { MAX_NAME_CHARS } from '../limits.ts';
import type { WarningLog } from '../warnings.ts';

/* Values of a TLS report, with what reporters make of them. */

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function member(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A text without blanks around it, and without what no text of XML has; null when it is missing, blank, or no single value. */
export function toText(
  value: Json | undefined,
  log: WarningLog,
  maxChars = MAX_NAME_CHARS,
): string | null {
  if (value === undefined || value === null || typeof value === 'object') return null;
  const sound = String(value).toWellFormed().replace(FORBIDDEN, '\uFFFD').trim();
  if (sound !== String(value).trim()) log.add('forbidden_characters');
  if (sound.length > maxChars) log.add('long_value');
  return cutText(sound, maxChars) || null;
}

/** The entries of a list, which may be one entry. */
function toList(value: Json | undefined, log: WarningLog): readonly Json[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  log.add('not_a_list');
  return [value as Json];
}

export function toObjects(value: Json | undefined, log: WarningLog): readonly JsonObject[] {
  return toList(value, log).filter((entry) => {
    if (!isObject(entry)) log.add('unreadable_entry');
    return isObject(entry);
  }) as readonly JsonObject[];
}

/** The texts of a list, which may be one text. */
export function toTexts(
  value: Json | undefined,
  log: WarningLog,
  maxChars = MAX_NAME_CHARS,
): readonly string[] {
  const list = typeof value === 'string' ? [value] : toList(value, log);
  return list.flatMap((entry) => {
    if (typeof entry === 'object') log.add('unreadable_entry');
    return toText(entry, log, maxChars) ?? [];
  });
}

const DIGITS = /^\s*\d+\s*$/;

/** A number of sessions; undefined, with a warning, when there is none. Throws `bad_field` for one that no number can be. */
export function toCount(value: Json | undefined, log: WarningLog): number | undefined {
  const isMissing = value === undefined || value === null || value === '';
  const number = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value;
  if (typeof number === 'number' && number > Number.MAX_SAFE_INTEGER)
    throw new Refusal('bad_field', 'A count of sessions is larger than a number can be.');
  if (typeof number === 'number' && Number.isInteger(number) && number >= 0) return number;
  log.add(isMissing ? 'missing_count' : 'invalid_count');
  return undefined;
}

/** Around an address: brackets, and the tag of an address literal (RFC 5321, section 4.1.3). */
const AROUND = /^\[?(?:ipv6:)?|\]$/gi;

export function toAddress(value: Json | undefined, log: WarningLog): string | null {
  const text = toText(value, log);
  if (text === null) return null;
  const address = parseIpAddress(text.replace(AROUND, ''));
  if (address === undefined) log.add('invalid_ip');
  return address ?? null;
}
