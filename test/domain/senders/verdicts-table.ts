import { readFileSync } from 'node:fs';
import type { ToOrganizationalDomain } from '../../../src/domain/dns/organizational-domain.ts';
import { parseIpAddress } from '../../../src/domain/ip-address.ts';
import { remember } from '../../../src/domain/remember.ts';
import { parsePattern, toPattern } from '../../../src/domain/reports/source-pattern.ts';
import type { SentMail, Verdict } from '../../../src/domain/senders/sender.ts';
import type { Mark } from '../../../src/domain/sources/source.ts';

/** Reads `verdicts.table.txt`, which says what its lines mean. */

export interface WantedVerdict {
  readonly mail: readonly SentMail[];
  readonly verdict: Verdict;
  readonly reason: string;
  readonly line: string;
}

export interface TableDomain {
  readonly domain: string;
  readonly modes: { readonly spf: 'r' | 's'; readonly dkim: 'r' | 's' };
  readonly title: string;
  readonly marks: ReadonlyMap<string, Mark>;
  readonly wanted: readonly WantedVerdict[];
}

export function readTable(toOrganizationalDomain: ToOrganizationalDomain): readonly TableDomain[] {
  const text = readFileSync(new URL('verdicts.table.txt', import.meta.url), 'utf8');
  const [, ...sections] = text.split(/^== /m);
  return sections.map((section) => parseDomain(section, toOrganizationalDomain));
}

export function parseDomain(
  section: string,
  toOrganizationalDomain: ToOrganizationalDomain,
): TableDomain {
  const [title = '', ...lines] = section.trimEnd().split('\n');
  const [head = ''] = title.split(':', 1);
  const [domain = ''] = head.split(' ', 1);
  const toMode = (tag: string) => (head.includes(`${tag}=s`) ? 's' : 'r');
  const modes = { spf: toMode('aspf'), dkim: toMode('adkim') } as const;
  const parse = remember(parsePattern);
  const toResults = (one: string) =>
    parse(toPattern(toRecord(one, { domain, modes, toOrganizationalDomain })));
  const marks = lines
    .filter((line) => line.startsWith('mark '))
    .map((line) => /^mark (.+) (\w+)$/.exec(line)?.slice(1) as [string, Mark]);
  const wanted = lines
    .filter((line) => line.includes(' | '))
    .map((line) => parseLine(line, toResults));
  return { domain, modes, title, marks: new Map(marks), wanted };
}

function parseLine(
  line: string,
  toResults: (one: string) => ReturnType<typeof parsePattern>,
): WantedVerdict {
  const [who = '', name, network = '', messages = '', verdict, reason = ''] = line.split(' | ');
  const [pattern = '', times = 'x1'] = who.split(' ');
  const [, asn, organisation = null] = /^AS(\d+) (.+)$/.exec(network) ?? [];
  const mail = Array.from({ length: Number(times.slice(1)) }, (_, i): SentMail => {
    const results = messages.split(' + ').map((one) => ({
      seen: toResults(one.replace(/^\S+ ?/, '').replaceAll('*', String(i))),
      messages: toCount(one, i),
    }));
    const sum = (passes: (seen: ReturnType<typeof parsePattern>) => boolean) =>
      results.reduce((all, { seen, messages: count }) => all + (passes(seen) ? count : 0), 0);
    return {
      address: toAddress(pattern, i),
      messages: sum(() => true),
      aligned: sum(({ spf, isDkimAligned }) => spf.isAligned || isDkimAligned),
      dkimAligned: sum(({ isDkimAligned }) => isDkimAligned),
      spfAligned: sum(({ spf }) => spf.isAligned),
      firstDay: '2026-05-01',
      lastDay: '2026-05-30',
      results: results.filter(({ messages: count }) => count > 0),
      name: name === '-' ? undefined : name,
      network: asn === undefined ? undefined : { asn: Number(asn), organisation, country: null },
    };
  });
  return { mail, verdict: verdict as Verdict, reason, line };
}

/** `*` is the number of the address: a byte of IPv4, a group of IPv6. */
function toAddress(pattern: string, i: number): string {
  const text = pattern.replace('*', pattern.includes(':') ? (i + 1).toString(16) : String(i));
  return parseIpAddress(text) ?? text;
}

/** `3`, or `1-3` where addresses differ. */
function toCount(text: string, i: number): number {
  const [, from, to = from] = /^(\d+)(?:-(\d+))?/.exec(text) ?? [];
  return Number(from) + (i % (Number(to) - Number(from) + 1));
}

interface RecordContext extends Pick<TableDomain, 'domain' | 'modes'> {
  readonly toOrganizationalDomain: ToOrganizationalDomain;
}

/** What a receiver reports, which counts what passes and is aligned, unless it is `uncounted`. */
function toRecord(text: string, { domain, modes, toOrganizationalDomain }: RecordContext) {
  const words = text.split(' ');
  const toName = (name = '') => name.replace(/(^|\.)own$/, `$1${domain}`);
  const valuesOf = (tag: string) =>
    words
      .filter((word) => word.startsWith(`${tag}=`))
      .map((word) => word.slice(tag.length + 1).split(':'));
  const [from] = valuesOf('from').map(([name]) => toName(name));
  const spf = valuesOf('spf').map(([result = '', name]) => ({
    ...{ domain: name === undefined ? null : toName(name), result },
    ...{ scope: 'mfrom', humanResult: null },
  }));
  const dkim = valuesOf('dkim').map(([result = '', name, selector]) => ({
    ...{ domain: toName(name), result, selector: selector || null, humanResult: null },
  }));
  const author = from || domain;
  const isAligned = (
    mode: 'r' | 's',
    { domain: name, result }: { domain: string | null; result: string },
  ) =>
    result === 'pass' &&
    !!name &&
    !words.includes('uncounted') &&
    (mode === 's'
      ? name === author
      : toOrganizationalDomain(name) === toOrganizationalDomain(author));
  const reasons = words.includes('forwarded') ? [{ type: 'forwarded', comment: null }] : [];
  return {
    identifiers: { headerFrom: from ?? domain, envelopeFrom: null, envelopeTo: null },
    policyEvaluated: {
      disposition: 'none',
      dkim: dkim.some((one) => isAligned(modes.dkim, one)) ? 'pass' : 'fail',
      spf: spf.some((one) => isAligned(modes.spf, one)) ? 'pass' : 'fail',
      reasons,
    },
    authResults: { dkim, spf },
  } as const;
}
