import { isIP } from 'node:net';
import { createNetworks } from '../../../domain/network-address.ts';
import { remember } from '../../../domain/remember.ts';
import { parsePattern } from '../../../domain/reports/source-pattern.ts';
import { toNetworkTitle } from '../../../domain/sources/groups.ts';
import type { SettingsDeps } from '../../deps.ts';
import type { Senders } from './service-groups.ts';

/**
 * Whether an address is meant by a text: it is in a network (`192.0.2.0/24`), or the text is a part of the address, of its
 * name, of its network or service, or of a domain that signed or sent in its reports.
 */
export async function loadSearch(
  { findNetwork }: SettingsDeps,
  { loadSenders }: { readonly loadSenders: () => Promise<Senders> },
  search: string,
): Promise<(address: string) => boolean> {
  const isInNetwork = parseNetwork(search);
  if (isInNetwork !== undefined) return isInNetwork;
  const wanted = search.toLowerCase();
  const { mail, names, toGroup } = await loadSenders();
  const listNames = remember(listSenders);
  const has = (text: string | undefined) => text?.toLowerCase().includes(wanted) === true;
  return (address) => {
    const network = findNetwork?.(address);
    if ([address, names.get(address), network && toNetworkTitle(network)].some(has)) return true;
    const patterns = mail.findPatterns(address) ?? new Map();
    return has(toGroup(address).title) || [...patterns.keys()].flatMap(listNames).some(has);
  };
}

/** The domains that SPF and DKIM are about. */
function listSenders(pattern: string): string[] {
  const { spf, dkim } = parsePattern(pattern);
  return [spf.domain, ...dkim.map(({ domain }) => domain)].filter((name) => name !== null);
}

function parseNetwork(text: string): ((address: string) => boolean) | undefined {
  const [address = '', bits = ''] = text.split('/');
  const max = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= max ? createNetworks([text]) : undefined;
}
