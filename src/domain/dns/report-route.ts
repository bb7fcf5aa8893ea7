import { findPolicyTag, findTag } from './dns-record.ts';
import { type InheritedPolicy, isOrganisation } from './held-policy.ts';
import {
  AUTHORISATION,
  type RecordToPublish,
  toAuthorisationName,
  toProposedRecord,
  toRuaTag,
} from './records-to-publish.ts';
import { findReportAddresses, normalizeAddress, toHost } from './report-addresses.ts';

/* Whether reports about a domain can reach us, from what DNS says (RFC 9990; RFC 7489, section 7.1). */

/** What DNS answers: a value, null for nothing, undefined when no server answered in time (SERVFAIL, timeout). */
export type Answer<T> = T | null | undefined;

export interface RouteFacts {
  readonly domain: string;
  /** The addresses at which we take reports. */
  readonly addresses: readonly string[];
  /** The TXT records at `_dmarc.<domain>` that are DMARC records. */
  readonly record: Answer<string>;
  /** A text there that receivers take for none, because its version is not written as they want it. */
  readonly misspelt?: string | undefined;
  /** The record of the organisation above: it holds for a domain that has none, and for all names below the domain. */
  readonly inherited?: InheritedPolicy | undefined;
  /** The host that reports are or shall be sent to: `findReportHost`. */
  readonly host: string;
  /** Whether the host belongs to another owner than the domain. */
  readonly isOtherOwner: boolean;
  /** The DMARC record at `<domain>._report._dmarc.<host>`. */
  readonly authorisation: Answer<string>;
  /** The mail exchangers of the host; without MX, its addresses. */
  readonly exchangers: Answer<readonly string[]>;
  /** The name of our own mail server, when we have one. */
  readonly mailHost: string | undefined;
}

export interface RouteFinding {
  readonly check: RecordToPublish['check'];
  readonly ok: boolean;
  /** What was found, and what to publish when it is not right. */
  readonly text: string;
}

/** What has to be right for reports to come, in the order in which a person sets it up. */
export function listRouteFindings(facts: RouteFacts): readonly RouteFinding[] {
  const authorisation = { check: 'authorisation', ...checkAuthorisation(facts) } as const;
  return [
    { check: 'rua', ...checkRua(facts) },
    ...(facts.isOtherOwner ? [authorisation] : []),
    { check: 'mx', ...checkExchangers(facts) },
  ];
}

const right = (text: string) => ({ ok: true, text });
const wrong = (text: string) => ({ ok: false, text });

type Asked = Pick<RouteFacts, 'record' | 'addresses'>;

/** The host that reports are or shall be sent to. */
export function findReportHost(asked: Asked): string {
  return toHost(findUsed(asked) ?? asked.addresses[0] ?? '');
}

function findUsed({ record, addresses }: Asked): string | undefined {
  const named = findReportAddresses(record ?? null);
  return addresses.find((address) => named.includes(normalizeAddress(address)));
}

function checkRua({ domain, record, addresses, misspelt, inherited }: RouteFacts) {
  const [ownAddress = ''] = addresses;
  const at = `_dmarc.${domain}`;
  if (record === undefined) return wrong(`No DNS server answered for the TXT record of ${at}.`);
  if (record === null && misspelt !== undefined)
    return wrong(
      `There is no DMARC record that receivers accept at ${at}: the version is written DMARC1, in capitals, and DNS has ${misspelt}`,
    );
  if (record === null && inherited !== undefined) {
    const named = findUsed({ record: inherited.value, addresses });
    const holds = `The record of ${inherited.from} holds for ${domain}`;
    return named === undefined
      ? wrong(`${holds}. It ${toRuaAdvice(inherited.value, ownAddress)}`)
      : right(`${holds}, and asks for reports to ${named}.`);
  }
  if (record === null)
    return wrong(
      `There is no DMARC record. Publish a TXT record at ${at}: ${toProposedRecord(null, ownAddress)}`,
    );
  if (record.includes('\n'))
    return wrong(
      `There are several DMARC records at ${at}, so receivers ignore all of them. Leave one.`,
    );
  const used = findUsed({ record, addresses });
  const idle = describeIdleTags(domain, record, inherited);
  return used === undefined
    ? wrong(`${idle}The record at ${at} ${toRuaAdvice(record, ownAddress)}`)
    : right(`${idle}The record at ${at} asks for reports to ${used}.`);
}

/** Names below a domain without records of their own go by the organisation's (RFC 9989, section 4.10). */
function describeIdleTags(
  domain: string,
  record: string,
  above: InheritedPolicy | undefined,
): string {
  const tags = (['sp', 'np'] as const).flatMap((tag) => {
    const policy = findPolicyTag(record, tag);
    return policy === null ? [] : [`${tag}=${policy}`];
  });
  if (above === undefined || tags.length === 0 || isOrganisation(record)) return '';
  const verb = tags.length === 1 ? 'has' : 'have';
  return `${tags.join(' and ')} at _dmarc.${domain} ${verb} no effect: names below ${domain} go by the record of ${above.from}. `;
}

/** A record has one rua tag (RFC 9990), so that a second address goes into the one that is there. */
function toRuaAdvice(record: string, ownAddress: string): string {
  if (findTag(record, 'rua') === undefined)
    return `has no rua tag. Add to it: ${toRuaTag(ownAddress)}`;
  const named = findReportAddresses(record);
  const others = named.length === 0 ? 'no mail address' : `only ${named.join(', ')}`;
  return `names ${others} in its rua tag. Add to that tag, after a comma: mailto:${ownAddress}`;
}

/** Needed for a host of another owner, because anybody could have reports sent to anybody. */
function checkAuthorisation({ domain, host, authorisation, addresses }: RouteFacts) {
  const at = toAuthorisationName(domain, host);
  if (authorisation === undefined)
    return wrong(`No DNS server answered for the TXT record of ${at}.`);
  // A host may name other addresses of its own there, which replace the domain's (RFC 9990, section 4).
  const named = findReportAddresses(authorisation).filter((address) => toHost(address) === host);
  const isOurs = addresses.some((address) => named.includes(normalizeAddress(address)));
  if (named.length > 0 && !isOurs)
    return wrong(
      `${host} has reports about ${domain} sent to ${named.join(', ')} instead, by the rua tag at ${at}. ` +
        `Take that tag away, or add to it: mailto:${addresses[0]}`,
    );
  if (authorisation !== null) return right(`${host} takes reports about ${domain}: ${at} says so.`);
  return wrong(
    `${host} does not say that it takes reports about ${domain}, so most receivers send none. ` +
      `Publish a TXT record at ${at}, or at *._report._dmarc.${host}: ${AUTHORISATION}`,
  );
}

function checkExchangers({ host, exchangers, mailHost = 'your mail server' }: RouteFacts) {
  if (exchangers === undefined)
    return wrong(`No DNS server answered for the MX records of ${host}.`);
  return exchangers === null || exchangers.length === 0
    ? wrong(
        `Mail to ${host} goes nowhere: it has no MX record. Publish one: ${host} MX 10 ${mailHost}`,
      )
    : right(`Mail to ${host} goes to ${exchangers.join(', ')}.`);
}
