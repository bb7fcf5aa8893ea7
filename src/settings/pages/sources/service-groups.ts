import { loadOwnerDomains } from '../../../domain/dns/organizational-domain.ts';
import { addDays, type DayRange } from '../../../domain/instant.ts';
import { remember } from '../../../domain/remember.ts';
import { parsePattern } from '../../../domain/reports/source-pattern.ts';
import { toAddressKey } from '../../../domain/sources/address-key.ts';
import { type GroupName, toNetworkName } from '../../../domain/sources/groups.ts';
import { judgeSource } from '../../../domain/sources/verdict.ts';
import { type MailOfDays, readMail } from '../../../store/sources/mail.ts';
import { readAllNames } from '../../../store/sources/names.ts';
import type { SettingsDeps } from '../../deps.ts';
import { loadNamer } from '../../services.ts';

/**
 * Evidence is of the days up to the end of a range: each is unpacked as a whole. A shorter range has too little of it: of a
 * signature that broke yesterday, yesterday alone does not say that it was good before.
 */
const EVIDENCE_DAYS = 30;

export function toEvidenceRange({ to }: DayRange): DayRange {
  return { from: addDays(to, 1 - EVIDENCE_DAYS), to };
}

export interface DomainMail {
  readonly domain: { readonly id: string; readonly name: string };
  readonly range: DayRange;
}

/** Who sent, by the evidence of some mail. */
export interface Senders {
  readonly mail: MailOfDays;
  /** Of addresses, in DNS. */
  readonly names: ReadonlyMap<string, string>;
  /** Groups addresses by the service that evidence names, else by their network; others are groups of their own. */
  readonly toGroup: (address: string) => GroupName;
}

export async function loadSenders(
  deps: SettingsDeps,
  { domain, range }: DomainMail,
): Promise<Senders> {
  const query = { domainId: domain.id, range: toEvidenceRange(range) };
  return await nameSenders(deps, domain, await readMail(deps.store.reader, query));
}

/** Thousands of addresses have the same few patterns, and these the same few domains: each is read once. */
export async function nameSenders(
  { store: { reader }, findNetwork }: SettingsDeps,
  { id: domainId, name: domain }: DomainMail['domain'],
  mail: MailOfDays,
): Promise<Senders> {
  const names = await readAllNames(reader, domainId);
  const nameOf = await loadNamer(domain);
  const parse = remember(parsePattern);
  const modes = { dkim: 'r', spf: 'r' } as const;
  const asked = { domain, modes, toOrganizationalDomain: remember(await loadOwnerDomains()) };
  const toGroup = remember((address: string): GroupName => {
    const patterns = mail.sources.get(toAddressKey(address))?.patterns ?? [];
    const results = [...patterns].map(([text, messages]) => ({ ...parse(text), messages }));
    const name = names.get(address);
    const service = nameOf({ results, name });
    const mark = mail.marks.get(address)?.mark ?? null;
    const { verdict } = judgeSource({ results, mark, service, name }, asked);
    if (service !== undefined)
      return { key: `service ${service.name}`, title: service.name, service, verdict };
    const network = toNetworkName(findNetwork?.(address));
    if (network.title === undefined) return { key: address, title: address, verdict };
    return { key: `network ${network.key}`, title: network.title, verdict };
  });
  return { mail, names, toGroup };
}
