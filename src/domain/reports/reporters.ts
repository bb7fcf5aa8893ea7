import { hash } from 'node:crypto';
import type { ToOrganizationalDomain } from '../dns/organizational-domain.ts';
import { parseDomainName } from '../domain-name.ts';
import type { ReportMetadata } from './aggregate-report.ts';

interface KnownReporter {
  /** What it calls itself in reports, in lower case. */
  readonly names: readonly string[];
  /** The addresses that send its reports, and nothing else. Other addresses of its domain send what anybody writes. */
  readonly addresses: readonly [string, ...string[]];
}

/**
 * The big reporters, whose name anybody could use: only these addresses are theirs. They are those of the From fields of
 * their reports in public collections of samples.
 */
const KNOWN: readonly KnownReporter[] = [
  {
    names: ['google.com', 'google', 'google inc.', 'google llc', 'gmail.com'],
    addresses: ['noreply-dmarc-support@google.com', 'noreply-smtp-tls-reporting@google.com'],
  },
  {
    names: [
      ...['outlook.com', 'enterprise outlook', 'hotmail.com'],
      ...['microsoft.com', 'microsoft corp.', 'microsoft corporation'],
    ],
    addresses: ['dmarcreport@microsoft.com', 'tlsrpt-noreply@microsoft.com'],
  },
  {
    names: ['yahoo', 'yahoo.com', 'yahoo inc.', 'yahoo! inc.', 'aol', 'aol.com'],
    addresses: ['noreply@dmarc.yahoo.com'],
  },
  { names: ['mail.ru'], addresses: ['dmarc_support@corp.mail.ru'] },
  { names: ['amazon-ses', 'amazonses.com'], addresses: ['postmaster@amazonses.com'] },
];

/** Providers where anybody has an address: a reporter that sends from one is the whole address. */
const SHARED = new Set([
  ...'gmail.com googlemail.com outlook.com hotmail.com live.com msn.com aol.com'.split(' '),
  ...'icloud.com me.com mac.com gmx.de gmx.net gmx.com web.de t-online.de mail.com'.split(' '),
  ...'proton.me protonmail.com fastmail.com zoho.com yandex.com yandex.ru mail.ru'.split(' '),
  ...'yahoo.com qq.com 163.com 126.com naver.com comcast.net att.net verizon.net'.split(' '),
  ...'cox.net orange.fr free.fr laposte.net libero.it seznam.cz'.split(' '),
]);

type Named = Pick<ReportMetadata, 'orgName' | 'email'>;

/**
 * Who sent a report: the organisational domain of the authenticated address of its mail, or the whole address where the
 * domain is a provider's of mailboxes; undefined when it is of a big reporter's domain or name, and of another address.
 */
export function findReporter(
  from: string,
  report: Named,
  toOrganizationalDomain: ToOrganizationalDomain,
): string | undefined {
  const domain = toOrganizationalDomain(toDomain(from));
  if (isKnownAddress(from)) return domain;
  const named = listNamed(report, toOrganizationalDomain);
  if ([domain, ...named].some(isKnownReporter)) return undefined;
  return SHARED.has(domain) ? from : domain;
}

/** Whose signatures of a mail passed. */
export interface Signed {
  /** Their domains. */
  readonly signers: readonly string[];
  /** The mail's TLS-Report-Submitter (RFC 8460, section 5.3). */
  readonly submitter?: string | undefined;
}

/**
 * Who sent a TLS report: whoever signed its mail, when that is the owner of the domain of its contact, or of the submitter's when it
 * names no contact. `from` is the authenticated address of the mail, or empty.
 */
export function findTlsReporter(
  { from, signers, submitter }: Signed & { readonly from: string },
  report: Named,
  toOrganizationalDomain: ToOrganizationalDomain,
): string | undefined {
  const contact = parseDomainName(toDomain(report.email ?? submitter ?? ''));
  const owner = contact && toOrganizationalDomain(contact);
  if (!owner || signers.every((name) => toOrganizationalDomain(name) !== owner)) return undefined;
  const isSender = toOrganizationalDomain(toDomain(from)) === owner;
  if (!isSender && SHARED.has(owner)) return undefined;
  return findReporter(isSender ? from : `@${owner}`, report, toOrganizationalDomain);
}

/** Whether an address sends the reports of a big reporter, and nothing else. */
export function isKnownAddress(address: string): boolean {
  return KNOWN.some(({ addresses }) => addresses.includes(address));
}

/** Whether an organisational domain is a big reporter's. */
export function isKnownReporter(domain: string): boolean {
  return KNOWN.some(
    ({ addresses: [first] }) => first.endsWith(`@${domain}`) || first.endsWith(`.${domain}`),
  );
}

/** The reporter that the name of the organisation names, if it does: anybody can use any name. */
export function listNamed(
  { orgName }: Named,
  toOrganizationalDomain: ToOrganizationalDomain,
): readonly string[] {
  const name = (orgName ?? '').trim().toLowerCase();
  const known = KNOWN.find(({ names }) => names.includes(name));
  const domain = parseDomainName(known === undefined ? name : toDomain(known.addresses[0]));
  return domain === undefined ? [] : [toOrganizationalDomain(domain)];
}

/**
 * The reporters in whose name a report is of which nothing says who sent it. Its e-mail says who is asked about it, and so
 * who that is, too.
 */
export function listClaimed(
  report: Named,
  toOrganizationalDomain: ToOrganizationalDomain,
): readonly string[] {
  const email = (report.email ?? '').toLowerCase();
  const domain = parseDomainName(toDomain(email));
  const owner = domain && toOrganizationalDomain(domain);
  const contact = owner && (SHARED.has(owner) ? email : owner);
  return [...listNamed(report, toOrganizationalDomain), ...(contact ? [contact] : [])];
}

const toDomain = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

/** Its organisation, or else the domain of its e-mail address: some reports name no organisation. */
export function findReporterName({
  reporter_org,
  reporter_email,
}: Readonly<Record<'reporter_org' | 'reporter_email', string | null>>): string | null {
  return reporter_org ?? (reporter_email?.split('@').at(-1) || null);
}

/** Six bytes of a hash: a name is anybody's claim, so nobody gains by another name with the same key. Letter case does not count. */
export function toReporterKey(name: string): number {
  const text = name.trim().normalize('NFC').toLowerCase();
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}

/** The keys of the names that a report is found by. A domain that the organisation is named as is the same name. */
export function toReporterKeys({ orgName, email }: Named) {
  const [name, host] = [orgName, email?.includes('@') ? toDomain(email) : null].map((text) =>
    text?.trim() ? toReporterKey(text) : null,
  ) as [number | null, number | null];
  return { reporter: name ?? host, reporter_host: name === null || name === host ? null : host };
}
