import {
  MAX_LOOKUPS,
  MAX_VOID_LOOKUPS,
  type SpfFinding,
  type SpfFound,
} from '../domain/dns/sender-records.ts';
import { listSpfRecords, parseSpf, type SpfTerm } from '../domain/dns/spf-terms.ts';
import type { Dns } from './resolver.ts';

/** Receivers give up long before. */
const MAX_COUNTED = 50;
/** What is kept: DNS can hold any text. */
const [MAX_CHARS, MAX_AT, MAX_FINDINGS] = [1_000, 200, 10];
const MAX_EXCHANGERS = 10;
const ASKING = new Set(['include', 'redirect', 'a', 'mx', 'ptr', 'exists']);

interface Walk {
  readonly dns: Pick<Dns, 'findTexts' | 'findAddresses' | 'findExchangers'>;
  readonly findings: SpfFinding[];
  /** Terms that DNS has nothing for. */
  readonly voids: string[];
  /** What each term of the domain's own record costs. */
  readonly costs: [text: string, lookups: number][];
  lookups: number;
  isAnswered: boolean;
}

interface Place {
  readonly name: string;
  /** The names of the records above. */
  readonly path: readonly string[];
  /** The domain's own record, or one that it is redirected to. */
  readonly isOwn: boolean;
  /** The term that led here. */
  readonly by?: SpfTerm;
  /** Whether who matches here passes. */
  readonly passes: boolean;
}

/** Evaluates all of a domain's SPF record, as for an address that it does not list (RFC 7208); undefined when a server did not answer. */
export async function checkSpf(dns: Walk['dns'], domain: string): Promise<SpfFound | undefined> {
  const walk: Walk = { dns, findings: [], voids: [], costs: [], lookups: 0, isAnswered: true };
  const records = await visit(walk, { name: domain, path: [], isOwn: true, passes: true });
  if (!walk.isAnswered) return undefined;
  const { lookups, voids, costs, findings } = walk;
  const [most] = costs.toSorted(([, a], [, b]) => b - a);
  const all: SpfFinding[] = [...findings];
  if (voids.length > MAX_VOID_LOOKUPS)
    all.unshift({ code: 'too_many_void_lookups', at: [...new Set(voids)].join(', ') });
  if (lookups > MAX_LOOKUPS && most !== undefined)
    all.unshift({ code: 'too_many_lookups', at: `${most[0].slice(0, MAX_AT - 10)} (${most[1]})` });
  const found = new Map(
    all.map(({ code, at }) => [`${code} ${at}`, { code, at: at.slice(0, MAX_AT) }]),
  );
  return {
    record: records.length === 1 ? (records[0]?.slice(0, MAX_CHARS) ?? null) : null,
    ...{ lookups, voidLookups: voids.length, findings: [...found.values()].slice(0, MAX_FINDINGS) },
  };
}

/** Returns the records of a name. */
async function visit(walk: Walk, place: Place): Promise<readonly string[]> {
  const { name, by } = place;
  const texts = await walk.dns.findTexts(name);
  walk.isAnswered &&= texts !== undefined;
  const records = listSpfRecords(texts ?? []);
  const [record, another] = records;
  if (texts === null && by) walk.voids.push(by.text);
  if (record === undefined) note(walk, by ? 'no_record' : 'missing', by?.text ?? name);
  else if (another !== undefined) note(walk, 'several', name);
  else await evaluate(walk, place, parseSpf(record, name));
  return records;
}

async function evaluate(walk: Walk, place: Place, terms: ReturnType<typeof parseSpf>) {
  if (typeof terms === 'string') return note(walk, 'syntax', terms);
  const isOpen = ({ name, passes }: SpfTerm) => name === 'all' && passes && place.passes;
  const { by } = place;
  for (const { text } of terms.filter(isOpen))
    note(walk, 'pass_all', by === undefined ? text : `${text} by ${by.text}`);
  for (const term of terms.filter(({ name }) => ASKING.has(name))) {
    if (walk.lookups >= MAX_COUNTED || !walk.isAnswered) return;
    const before = walk.lookups;
    walk.lookups += 1;
    await askFor(walk, place, term);
    if (place.isOwn && term.name !== 'redirect')
      walk.costs.push([term.text, walk.lookups - before]);
  }
}

async function askFor(walk: Walk, { name, path, isOwn, passes }: Place, by: SpfTerm) {
  const { target } = by;
  if (by.name === 'ptr') return note(walk, 'ptr', by.text);
  if (target === null) return;
  if (by.name === 'include' || by.name === 'redirect') {
    const above = [...path, name];
    if (above.includes(target)) return note(walk, 'loop', by.text);
    const isStill = isOwn && by.name === 'redirect';
    const below = { name: target, path: above, isOwn: isStill, by, passes: passes && by.passes };
    return void (await visit(walk, below));
  }
  const found = await findHosts(walk.dns, by.name, target);
  walk.isAnswered &&= found !== undefined;
  if (found === null) walk.voids.push(by.text);
  if (by.name === 'mx' && found && found.length > MAX_EXCHANGERS)
    note(walk, 'too_many_mx', by.text);
}

/** An address of either family is enough: which one is asked for depends on who sends. */
async function findHosts(dns: Walk['dns'], term: string, target: string) {
  if (term === 'mx') return await dns.findExchangers(target);
  const found = await dns.findAddresses(target, 4);
  return found === null && term === 'a' ? await dns.findAddresses(target, 6) : found;
}

function note({ findings }: Walk, code: SpfFinding['code'], at: string): void {
  if (findings.length < 2 * MAX_FINDINGS) findings.push({ code, at });
}
