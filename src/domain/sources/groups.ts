import type { ToOrganizationalDomain } from '../dns/organizational-domain.ts';
import type { Network } from './network.ts';

/* What lists of sources are grouped by, beside who sent. */

export interface GroupName {
  /** Identifies the group within its grouping; `-` for sources whose network or name is not known. */
  readonly key: string;
  readonly title: string | undefined;
}

const UNKNOWN_GROUP: GroupName = { key: '-', title: undefined };

export function toOrganisation(
  name: string | undefined,
  toOrganizationalDomain: ToOrganizationalDomain,
): GroupName {
  if (name === undefined) return UNKNOWN_GROUP;
  const domain = toOrganizationalDomain(name);
  return { key: domain, title: domain };
}

/** The group of a source's network. Its key is the network's number if known, because names vary in spelling. */
export function toNetworkName(network: Network | undefined): GroupName {
  const title = network && toNetworkTitle(network);
  if (network === undefined || title === undefined) return UNKNOWN_GROUP;
  return { key: network.asn === null ? title : `AS${network.asn}`, title };
}

/** `AS64500 Example Networks`; undefined when neither is known. */
export function toNetworkTitle({ asn, organisation }: Network): string | undefined {
  if (asn === null) return organisation || undefined;
  return organisation === null ? `AS${asn}` : `AS${asn} ${organisation}`;
}
