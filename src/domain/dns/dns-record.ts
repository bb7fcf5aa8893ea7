import type { PolicyPublished } from '../reports/aggregate-report.ts';

export type RecordType = 'dmarc' | 'spf';

/** A record as DNS returns it: text, or null when there is none. */
export type RecordValue = string | null;

export const RECORD_TYPES = ['dmarc', 'spf'] as const satisfies readonly RecordType[];

/** The case of a DMARC record's version matters (RFC 9989, 4.8). */
const VERSIONS = { dmarc: /^[vV]\s*=\s*DMARC1\s*(;|$)/, spf: /^v=spf1(\s|$)/i } as const;
/** Tags whose value is a keyword, so its case does not matter; addresses keep theirs. */
const KEYWORD_TAGS = new Set('p sp np adkim aspf fo pct t psd rf ri'.split(' '));
const STRENGTHS = ['absent', 'none', 'quarantine', 'reject'] as const;
export type Policy = (typeof STRENGTHS)[number];

/** The name at which a domain's record is published (RFC 9989, RFC 7208). */
export function toRecordName(type: RecordType, domain: string): string {
  return type === 'dmarc' ? `_dmarc.${domain}` : domain;
}

/** Where a signature's key is published (RFC 6376, 3.6.2.1). */
export const toKeyName = ({ selector, domain }: KeyPlace) =>
  `${selector ?? ''}._domainkey.${domain ?? ''}`;

interface KeyPlace {
  readonly selector: string | null;
  readonly domain: string | null;
}

/** Both values of a change fit into a webhook, which has less than 20 kB: in JSON a character takes two bytes at most. */
const MAX_CHARS = 4_000;
/** A record is ASCII (RFC 9989, RFC 7208). */
const OTHERS = /[^\t -~]/g;

/**
 * `texts` are a name's TXT records, each with its strings joined. Several that match are joined by line breaks. What a
 * record must not contain is replaced, and what is too long is cut off.
 */
export function findRecord(type: RecordType, texts: readonly string[]): RecordValue {
  const records = texts
    .map((text) => text.trim().replace(OTHERS, '?'))
    .filter((text) => VERSIONS[type].test(text));
  return records.length === 0 ? null : records.sort().join('\n').slice(0, MAX_CHARS);
}

/** A text that would be a record if its version were written as receivers want it. */
export function findMisspelt(texts: readonly string[]): string | undefined {
  return texts.find((text) => /^v\s*=\s*dmarc1\s*(;|$)/i.test(text) && !VERSIONS.dmarc.test(text));
}

/** Whether two records mean the same. The order of tags, blanks and the case of words do not matter. */
export function isSameRecord(type: RecordType, a: RecordValue, b: RecordValue): boolean {
  return toCanonical(type, a) === toCanonical(type, b);
}

function toCanonical(type: RecordType, value: RecordValue): string | null {
  if (value === null) return null;
  const lines = value
    .split('\n')
    .map((line) => (type === 'dmarc' ? toCanonicalDmarc(line) : toCanonicalSpf(line)));
  return lines.sort().join('\n');
}

function toCanonicalDmarc(line: string): string {
  return parseTags(line)
    .map(([name, text]) => `${name}=${KEYWORD_TAGS.has(name) ? text.toLowerCase() : text}`)
    .sort()
    .join(';');
}

/** The tags of a record in their order, the first of each name: receivers go by that. */
export function listTags(line: string): readonly (readonly [name: string, text: string])[] {
  return parseTags(line).filter(([name], i, all) => all.findIndex(([one]) => one === name) === i);
}

function parseTags(line: string): [name: string, text: string][] {
  return line
    .split(';')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
    .map((tag) => {
      const [name = '', ...text] = tag.split('=');
      return [name.trim().toLowerCase(), text.join('=').replace(/\s+/g, '')];
    });
}

function toCanonicalSpf(line: string): string {
  return line.toLowerCase().split(/\s+/).filter(Boolean).sort().join(' ');
}

/** The tags of a policy: of the domain, of its subdomains, and of subdomains that do not exist. */
export type PolicyTag = 'p' | 'sp' | 'np';

/**
 * The policies that a DMARC record requests for the domain, for its subdomains, and for those that do not exist. Several
 * records count as none. A record whose `p` is missing or unknown requests no policy (RFC 9989).
 */
export function toPolicies(value: RecordValue): Readonly<Record<PolicyTag, Policy>> {
  const tags = toTags(value);
  if (tags === undefined) return { p: 'absent', sp: 'absent', np: 'absent' };
  const p = toPolicy(tags.get('p'));
  const sp = tags.has('sp') ? toPolicy(tags.get('sp')) : p;
  return { p, sp, np: tags.has('np') ? toPolicy(tags.get('np')) : sp };
}

/** The policy of a DMARC record's tag; null when the record has no such tag, or none that receivers know. */
export function findPolicyTag(value: RecordValue, tag: PolicyTag): Policy | null {
  const [, text] = parseTags(value ?? '').find(([name]) => name === tag) ?? [];
  return toKnownPolicy(text) ?? null;
}

/**
 * The policy that a report states, as the tags of a record; null when it states none that receivers know. What is no
 * keyword or percentage is left out, so it is short.
 */
export function toPolicyTags({
  p,
  sp,
  np,
  pct,
  testing,
}: Pick<PolicyPublished, PolicyTag | 'pct' | 'testing'>): string | null {
  const policy = toKnownPolicy(p ?? '');
  if (policy === undefined) return null;
  const ofSubdomains = Object.entries({ sp, np }).flatMap(([tag, text]) => {
    const known = toKnownPolicy(text ?? '');
    return known === undefined ? [] : [`${tag}=${known}`];
  });
  const tags = [
    `p=${policy}`,
    ...ofSubdomains,
    ...(pct !== null && pct >= 0 && pct < 100 ? [`pct=${Math.trunc(pct)}`] : []),
    ...(testing?.toLowerCase() === 'y' ? ['t=y'] : []),
  ];
  return tags.join('; ');
}

/** The value of a DMARC record's tag. */
export function findTag(value: RecordValue, tag: string): string | undefined {
  return toTags(value)?.get(tag);
}

/** The policy of a record as such tags; null when there is none, or several. */
export function toPolicyTagsOf(value: RecordValue): string | null {
  const { p, sp, np } = toPolicies(value);
  if (p === 'absent') return null;
  const others = [...(sp === p ? [] : [`sp=${sp}`]), ...(np === sp ? [] : [`np=${np}`])];
  return [`p=${p}`, ...others, ...findTestTags(value)].join('; ');
}

/** The first tag of each name. undefined when there is no record, or more than one. */
function toTags(value: RecordValue): ReadonlyMap<string, string> | undefined {
  if (value === null || value.includes('\n')) return undefined;
  return new Map(parseTags(value).reverse());
}

function toPolicy(text?: string): Policy {
  return toKnownPolicy(text) ?? 'none';
}

function toKnownPolicy(text = ''): Policy | undefined {
  return STRENGTHS.slice(1).find((word) => word === text.toLowerCase());
}

/** Alignment, strict (`s`) or relaxed (`r`): relaxed without a record or without the tag (RFC 7489, 6.3). */
export function toAlignmentModes(value: RecordValue): Record<'dkim' | 'spf', 'r' | 's'> {
  const tags = toTags(value);
  const toMode = (tag: string) => (tags?.get(tag)?.toLowerCase() === 's' ? 's' : 'r');
  return { dkim: toMode('adkim'), spf: toMode('aspf') };
}

/** Tags that keep the policy from some or all mail: `t=y` (RFC 9989), `pct` below 100 (RFC 7489). */
export function findTestTags(value: RecordValue): readonly string[] {
  const tags = toTags(value);
  const pct = tags?.get('pct') ?? '';
  return [
    ...(tags?.get('t')?.toLowerCase() === 'y' ? ['t=y'] : []),
    ...(/^\d{1,2}$/.test(pct) ? [`pct=${pct}`] : []),
  ];
}

/** The tag whose policy is weaker than it was; undefined when neither is. */
export function findWeakerTag(former: RecordValue, current: RecordValue): 'p' | 'sp' | undefined {
  const [before, after] = [toPolicies(former), toPolicies(current)];
  const strength = (policy: Policy) => STRENGTHS.indexOf(policy);
  return (['p', 'sp'] as const).find((tag) => strength(after[tag]) < strength(before[tag]));
}
