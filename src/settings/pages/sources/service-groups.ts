import { loadOwnerDomains } from '../../../domain/dns/organizational-domain.ts';
import { addDays, type DayRange } from '../../../domain/instant.ts';
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

/** Groups addresses by the service that evidence names, else by their network; others are groups of their own. */
export async function loadServiceGroups(
  deps: SettingsDeps,
  { domain, range }: DomainMail,
): Promise<ToGroupName> {
  const query = { domainId: domain.id, range: toEvidenceRange(range) };
  return await nameServiceGroups(deps, domain, await readMail(deps.store.reader, query));
}

type ToGroupName = (address: string) => GroupName;

export async function nameServiceGroups(
  { store: { reader }, findNetwork }: SettingsDeps,
  { id: domainId, name: domain }: DomainMail['domain'],
  { sources, marks }: MailOfDays,
): Promise<ToGroupName> {
  const names = await readAllNames(reader, domainId);
  const nameOf = await loadNamer(domain);
  const modes = { dkim: 'r', spf: 'r' } as const;
  const asked = { domain, modes, toOrganizationalDomain: await loadOwnerDomains() };
  return (address) => {
    const patterns = sources.get(toAddressKey(address))?.patterns ?? [];
    const results = [...patterns].map(([text, messages]) => ({ ...parsePattern(text), messages }));
    const name = names.get(address);
    const service = nameOf({ results, name });
    const mark = marks.get(address)?.mark ?? null;
    const { verdict } = judgeSource({ results, mark, service, name }, asked);
    if (service !== undefined)
      return { key: `service ${service.name}`, title: service.name, service, verdict };
    const network = toNetworkName(findNetwork?.(address));
    if (network.title === undefined) return { key: address, title: address, verdict };
    return { key: `network ${network.key}`, title: network.title, verdict };
  };
}
