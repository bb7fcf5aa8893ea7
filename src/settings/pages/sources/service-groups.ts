import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { loadOwnerDomains } from '../../../domain/dns/organizational-domain.ts';
import { addDays, type DayRange } from '../../../domain/instant.ts';
import { remember } from '../../../domain/remember.ts';
import { parsePattern } from '../../../domain/reports/source-pattern.ts';
import { type GroupName, toNetworkName } from '../../../domain/sources/groups.ts';
import type { Mark } from '../../../domain/sources/source.ts';
import { createJudge, MIN_MESSAGES } from '../../../domain/sources/verdict.ts';
import { loadNamer } from '../../../store/days/known-services.ts';
import type { Marks } from '../../../store/days/marks.ts';
import { readAllNames } from '../../../store/days/names.ts';
import type { SettingsDeps } from '../../deps.ts';

/** Who sent, by the evidence of some mail. */
export interface Senders {
  /** Groups addresses by the service that evidence names, else by their network; others are groups of their own. */
  readonly toGroup: (address: string) => GroupName;
  /** What is known of an address, a line each, in small letters. */
  readonly toSearched: (address: string) => string;
}

/**
 * Evidence is of the days up to the end of a range. A shorter range has too little of it: of a signature that broke
 * yesterday, yesterday alone does not say that it was good before.
 */
const EVIDENCE_DAYS = 30;

export function toEvidenceRange({ to }: DayRange): DayRange {
  return { from: addDays(to, 1 - EVIDENCE_DAYS), to };
}

interface MailOfDomain {
  readonly domain: { readonly id: string; readonly name: string };
  readonly range: DayRange;
}

type FindPatterns = (address: string) => ReadonlyMap<string, number> | undefined;

/** Addresses that are judged before the event loop runs. */
const AT_ONCE = 250;

/** Judges the addresses, in turn with other work. */
export async function loadSenders(
  deps: Pick<SettingsDeps, 'store' | 'networks' | 'days'>,
  { domain, range, marks }: MailOfDomain & { readonly marks: Marks },
  addresses: readonly string[],
): Promise<Senders> {
  const query = { domainId: domain.id, range: toEvidenceRange(range), addresses };
  const { patterns } = await deps.days.readPatterns(query);
  const findPatterns = (address: string) => patterns.get(address);
  const senders = await nameSenders(deps, domain, { findPatterns, marks });
  for (const [i, address] of addresses.entries()) {
    senders.toGroup(address);
    if (i % AT_ONCE === AT_ONCE - 1) await yieldToOthers();
  }
  return senders;
}

/** What says who sent is what reporters said of an address's mail, by pattern, and its mark. */
export async function nameSenders(
  { store: { reader }, networks }: Pick<SettingsDeps, 'store' | 'networks'>,
  { id: domainId, name: domain }: MailOfDomain['domain'],
  { findPatterns, marks }: { findPatterns: FindPatterns; marks: Marks },
): Promise<Senders> {
  const names = await readAllNames(reader, domainId);
  const judge = await loadJudge(domain);
  const toGroup = remember((address: string): GroupName => {
    const patterns = findPatterns(address) ?? new Map();
    const mark = marks.get(address)?.mark ?? null;
    const { service, verdict } = judge({ patterns, mark, name: names.get(address) });
    if (service !== undefined)
      return { key: `service ${service.name}`, title: service.name, service, verdict };
    const network = toNetworkName(networks?.find(address));
    if (network.title === undefined) return { key: address, title: address, verdict };
    return { key: `network ${network.key}`, title: network.title, verdict };
  });
  const listNames = remember(listSenders);
  const toSearched = remember((address: string) => {
    const senders = [...(findPatterns(address)?.keys() ?? [])].flatMap(listNames);
    const network = toNetworkName(networks?.find(address)).title;
    const known = [names.get(address), network, toGroup(address).title];
    return [address, ...known, ...senders].join('\n').toLowerCase();
  });
  return { toGroup, toSearched };
}

/** The domains that SPF and DKIM are about. */
function listSenders(pattern: string): string[] {
  const { spf, dkim } = parsePattern(pattern);
  return [spf.domain, ...dkim.map(({ domain }) => domain)].filter((name) => name !== null);
}

interface JudgedAddress {
  readonly patterns: ReadonlyMap<string, number>;
  readonly mark: Mark | null;
  readonly name: string | undefined;
}

/**
 * Thousands of addresses have the same few patterns: each is read once. Most addresses have only one, and those with the
 * same one are judged once: of a name, a judgement takes the owner's domain, which thousands share, too.
 */
async function loadJudge(domain: string) {
  const nameOf = await loadNamer(domain);
  const parse = remember(parsePattern);
  const modes = { dkim: 'r', spf: 'r' } as const;
  const toOrganizationalDomain = remember(await loadOwnerDomains());
  const judgeSource = createJudge({ domain, modes, toOrganizationalDomain });
  const judge = ({ patterns, mark, name }: JudgedAddress) => {
    const results = [...patterns].map(([text, messages]) => ({ seen: parse(text), messages }));
    const service = nameOf({ results, name });
    return { service, verdict: judgeSource({ results, mark, service, name }).verdict };
  };
  const known = new Map<string, ReturnType<typeof judge>>();
  return ({ patterns, mark, name }: JudgedAddress) => {
    const [[text, messages] = ['', 0]] = patterns;
    if (patterns.size > 1) return judge({ patterns, mark, name });
    const owner = name && toOrganizationalDomain(name);
    const key = `${messages < MIN_MESSAGES} ${mark} ${owner} ${text}`;
    const judged = known.get(key) ?? judge({ patterns, mark, name: owner });
    known.set(key, judged);
    return judged;
  };
}
