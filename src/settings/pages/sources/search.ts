import { isIP } from 'node:net';
import { createNetworks } from '../../../domain/network-address.ts';
import type { Senders } from './service-groups.ts';

/**
 * Whether an address is meant by a text: it is in a network (`192.0.2.0/24`), or the text is a part of the address, of its
 * name, of its network or service, or of a domain that signed or sent in its reports.
 */
export async function loadSearch(
  loadSenders: () => Promise<Senders>,
  search: string,
): Promise<(address: string) => boolean> {
  const isInNetwork = parseNetwork(search);
  if (isInNetwork !== undefined) return isInNetwork;
  const wanted = search.toLowerCase();
  const { toSearched } = await loadSenders();
  return (address) => toSearched(address).includes(wanted);
}

function parseNetwork(text: string): ((address: string) => boolean) | undefined {
  const [address = '', bits = ''] = text.split('/');
  const max = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= max ? createNetworks([text]) : undefined;
}
