import type { KnownRecord } from './dns/held-policy.ts';
import { toProposedRecord, toRuaTag } from './dns/records-to-publish.ts';
import { findReportAddresses, normalizeAddress } from './dns/report-addresses.ts';

/* Next steps that publish a record. */

export interface StepText {
  readonly text: string;
  /** Text to publish or to look up, verbatim. */
  readonly code?: string;
  /** What follows the path of the domain's page, and the text of the link. */
  readonly link?: readonly [path: string, text: string];
}

export interface StepDomain {
  readonly id: string;
  readonly name: string;
  /** The address for reports that the domain's record should name. */
  readonly address: string | undefined;
  /** What DNS has, where it is known. */
  readonly dns?: KnownRecord | undefined;
}

export const ROUTE = ['#route', 'What DNS needs'] as const;

/** What DNS has stays, and our address is added: a policy that holds is never made weaker. */
export function describeFirstReports({ address, name, dns }: StepDomain): StepText {
  if (address === undefined)
    return { text: 'No report has come in yet: ask the operator where reports are to be sent.' };
  const first = 'No report has come in yet.';
  const at = `_dmarc.${name}`;
  if (dns === undefined)
    return {
      text: `${first} The DMARC record at ${at} needs this tag, or this address in the one that it has; where neither ${name} nor a domain above it has a record, begin it with v=DMARC1; p=none;`,
      code: toRuaTag(address),
      link: ROUTE,
    };
  const { value, inherited } = dns;
  if (value === null && inherited !== undefined)
    return {
      text: `The DMARC record of ${inherited.from} holds for ${name}, too, and its reports come with those of ${inherited.from}: nothing has to be published.`,
    };
  if (findReportAddresses(value).includes(normalizeAddress(address)))
    return { text: `${first} DNS asks for them: wait a day or two.`, link: ROUTE };
  const what = value === null ? 'a TXT record' : 'what it has, with the address for reports added,';
  return {
    text: `${first} Publish ${what} at ${at}:`,
    code: toProposedRecord(value, address),
    link: ROUTE,
  };
}

export function describeMissingRecord(address: string | undefined, name: string): StepText {
  const text = `DNS has no DMARC record any more. Publish one at _dmarc.${name}:`;
  return { text, code: toProposedRecord(null, address) };
}

export function describeLock({ name, address, dns }: StepDomain): StepText {
  const text = `The domain sends no mail, so all mail in its name can be rejected. Publish at _dmarc.${name}:`;
  return { text, code: toProposedRecord(dns?.value ?? null, address, 'reject') };
}
