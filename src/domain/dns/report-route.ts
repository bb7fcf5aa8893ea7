import { findTag } from './dns-record.ts';
import type { Inherited } from './held-policy.ts';
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
  /** Where it has none: the record of a domain above that holds for it. */
  readonly inherited?: Inherited | undefined;
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
export function checkRoute(facts: RouteFacts): readonly RouteFinding[] {
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
  return used === undefined
    ? wrong(`The record at ${at} ${toRuaAdvice(record, ownAddress)}`)
    : right(`The record at ${at} asks for reports to ${used}.`);
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
function checkAuthorisation({ domain, host, authorisation }: RouteFacts) {
  const at = toAuthorisationName(domain, host);
  if (authorisation === undefined)
    return wrong(`No DNS server answered for the TXT record of ${at}.`);
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
