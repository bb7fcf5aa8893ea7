import { isIPv4, isIPv6 } from 'node:net';
import { parseDomainName } from '../domain-name.ts';

/* The terms of an SPF record (RFC 7208, 4.6, 5 and 6). */

export interface SpfTerm {
  readonly text: string;
  /** Of a mechanism or a modifier, in lower case. */
  readonly name: string;
  /** Whether a match is a pass. */
  readonly passes: boolean;
  /** The name that DNS is asked for; null where a macro says it, which is not expanded. */
  readonly target: string | null;
}

/** Receivers read none where there are several. */
export const listSpfRecords = (texts: readonly string[]) =>
  texts.filter((text) => /^v=spf1(?: |$)/i.test(text));

/** Those that are evaluated until one matches, in their order; the text of one that receivers cannot read. */
export function parseSpf(record: string, domain: string): readonly SpfTerm[] | string {
  const terms: SpfTerm[] = [];
  for (const text of record.split(/ +/).slice(1)) {
    if (text === '') continue;
    const term = parseTerm(text, domain);
    const isSecond = ONCE.has(term?.name ?? '') && terms.some(({ name }) => name === term?.name);
    if (term === undefined || isSecond) return text;
    terms.push(term);
  }
  const all = terms.findIndex(({ name }) => name === 'all');
  const [redirects, others] = [true, false].map((is) =>
    terms.filter(({ name }) => (name === 'redirect') === is),
  ) as [SpfTerm[], SpfTerm[]];
  if (all === -1) return [...others, ...redirects];
  return others.slice(0, others.findIndex(({ name }) => name === 'all') + 1);
}

const ONCE = new Set(['redirect', 'exp']);
const MODIFIER = /^([a-z][a-z\d._-]*)=(.*)$/i;
const MECHANISM =
  /^([+?~-]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?::([^ ]*?))?(?:\/(\d{1,3}))?(?:\/\/(\d{1,3}))?$/i;

/** Whether a mechanism has a value, and the longest prefixes of networks that may follow it. */
const FORMS: Readonly<Record<string, readonly ['may' | 'must' | 'never', number, number]>> = {
  all: ['never', -1, -1],
  include: ['must', -1, -1],
  exists: ['must', -1, -1],
  ptr: ['may', -1, -1],
  a: ['may', 32, 128],
  mx: ['may', 32, 128],
  ip4: ['must', 32, -1],
  ip6: ['must', 128, -1],
};

function parseTerm(text: string, domain: string): SpfTerm | undefined {
  const [, modifier, value] = MODIFIER.exec(text) ?? [];
  if (modifier === undefined) return parseMechanism(text, domain);
  const name = modifier.toLowerCase();
  const target = name === 'redirect' ? toTarget(value, domain) : null;
  return target === undefined ? undefined : { text, name, passes: true, target };
}

function parseMechanism(text: string, domain: string): SpfTerm | undefined {
  const [, sign = '', mechanism = '', given, ...prefixes] = MECHANISM.exec(text) ?? [];
  const name = mechanism.toLowerCase();
  const [wants, ...most] = FORMS[name] ?? ['never', -2, -2];
  if (most.some((bits, i) => Number(prefixes[i] ?? -1) > bits)) return undefined;
  if (wants !== 'may' && (wants === 'must') !== (given !== undefined)) return undefined;
  const target = name.startsWith('ip') ? toNetwork(name, given) : toTarget(given, domain);
  return target === undefined ? undefined : { text, name, passes: /^\+?$/.test(sign), target };
}

const toNetwork = (name: string, given = '') =>
  (name === 'ip4' ? isIPv4(given) : isIPv6(given)) ? null : undefined;

function toTarget(given: string | undefined, domain: string): string | null | undefined {
  if (given?.includes('%')) return /%(?![{%_-])/.test(given) ? undefined : null;
  return given === undefined ? domain : parseDomainName(given);
}
