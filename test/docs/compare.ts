import { isDeepStrictEqual } from 'node:util';
import { SANDBOX_DOMAIN_IDS } from '../../src/domain/sandbox.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const FIXED_IDS = new Set(Object.values(SANDBOX_DOMAIN_IDS));

/**
 * Why the output differs from what a page shows; undefined when it does not. The sandbox's days end with
 * yesterday, so times and the ids made from them are compared by type, and everything else by value.
 */
export function findDifference(
  shown: { readonly language: string; readonly text: string },
  printed: string,
): string | undefined {
  if (shown.language === 'http') return findHttpDifference(shown.text, printed);
  const [wanted, got] = [shown.text, printed].map((text) => toKinds(shown.language, text));
  if (isDeepStrictEqual(wanted, got)) return undefined;
  return `shown:\n${shown.text}\nprinted:\n${printed}`;
}

function toKinds(language: string, text: string): unknown {
  return language === 'json' ? toKind(parseJson(text)) : text.trim();
}

function toKind(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toKind);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toKind(item)]));
  }
  if (typeof value !== 'string' || FIXED_IDS.has(value)) return value;
  if (INSTANT.test(value)) return 'a time';
  if (DAY.test(value)) return 'a day';
  return UUID.test(value) ? 'an id' : value;
}

/** Every header that a page shows has to be in the output. */
function findHttpDifference(shown: string, printed: string): string | undefined {
  const [wanted, got] = [parseHttp(shown), parseHttp(printed)];
  const missing = wanted.lines.filter((line) => !got.lines.includes(line));
  const isSameBody =
    wanted.body === '' ||
    isDeepStrictEqual(toKinds('json', wanted.body), toKinds('json', got.body));
  if (missing.length === 0 && isSameBody) return undefined;
  return `shown, but not printed: ${missing.join(' | ') || 'the body'}\n${printed}`;
}

function parseHttp(text: string) {
  const [head = '', ...body] = text.replaceAll('\r', '').split('\n\n');
  return { lines: head.trim().split('\n').map(toComparable), body: body.join('\n\n').trim() };
}

function toComparable(line: string): string {
  if (line.startsWith('ETag: ')) return line.replace(/".+"/, '"…"');
  if (line.startsWith('Plumbline-Cursor: ')) return line.replace(/ \S{31}$/, ' …');
  // What is left of a limit depends on how fast the page is read.
  return line.startsWith('RateLimit: ') ? line.replaceAll(/=\d+/g, '=…') : line;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
