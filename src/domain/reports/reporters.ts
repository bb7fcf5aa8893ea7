import type { ToOrganizationalDomain } from '../dns/organizational-domain.ts';
import { parseDomainName } from '../domain-name.ts';
import type { ReportMetadata } from './aggregate-report.ts';

interface KnownReporter {
  /** What it calls itself in reports, in lower case, and domains of its customers' addresses. */
  readonly names: readonly string[];
  /** Its mails come from these domains or below. Mails of its customers come from others. */
  readonly senders: readonly string[];
}

/**
 * The big reporters, whose customers or name anybody could use: only these senders are theirs. They are the domains of the
 * From fields of their reports in public collections of samples: noreply-dmarc-support@google.com,
 * dmarcreport@microsoft.com, noreply@dmarc.yahoo.com, dmarc_support@corp.mail.ru, postmaster@amazonses.com.
 */
const KNOWN: readonly KnownReporter[] = [
  {
    names: ['google.com', 'google', 'google inc.', 'google llc', 'gmail.com'],
    senders: ['google.com'],
  },
  {
    names: ['outlook.com', 'enterprise outlook', 'hotmail.com', 'microsoft.com', 'microsoft corp.'],
    senders: ['microsoft.com'],
  },
  {
    names: ['yahoo', 'yahoo.com', 'yahoo inc.', 'yahoo! inc.', 'aol', 'aol.com'],
    senders: ['dmarc.yahoo.com'],
  },
  { names: ['mail.ru'], senders: ['corp.mail.ru'] },
  { names: ['amazon-ses', 'amazonses.com'], senders: ['amazonses.com'] },
];

/**
 * The organisational domain as which a mail's senders are the reporter that its report names; undefined when they are
 * somebody else. `senders` are names that the mail's From is aligned with.
 */
export function findReporter(
  senders: readonly string[],
  report: Named,
  toOrganizationalDomain: ToOrganizationalDomain,
): string | undefined {
  const named = listNamed(report, toOrganizationalDomain);
  const known = findKnown(report, named);
  const sender = senders.find((sender) =>
    known === undefined
      ? named.includes(toOrganizationalDomain(sender))
      : known.senders.some((one) => sender === one || sender.endsWith(`.${one}`)),
  );
  return sender && toOrganizationalDomain(sender);
}

/** Whether an organisational domain is a big reporter's. */
export function isKnownReporter(domain: string): boolean {
  return KNOWN.some((reporter) => isSenderOf(reporter, domain));
}

/** The organisational domains of the reporters in whose name a report is, whoever sent it. */
export function listClaimed(
  report: Named,
  toOrganizationalDomain: ToOrganizationalDomain,
): readonly string[] {
  const named = listNamed(report, toOrganizationalDomain);
  const senders = findKnown(report, named)?.senders ?? [];
  return [...new Set([...senders.map(toOrganizationalDomain), ...named])];
}

type Named = Pick<ReportMetadata, 'orgName' | 'email'>;

const toName = (orgName: string | null): string => (orgName ?? '').trim().toLowerCase();

/** A report names a big reporter by its name, or by a domain of it, where its customers have mail addresses too. */
function findKnown({ orgName }: Named, named: readonly string[]): KnownReporter | undefined {
  const names = [toName(orgName), ...named];
  return KNOWN.find((reporter) =>
    names.some((name) => reporter.names.includes(name) || isSenderOf(reporter, name)),
  );
}

function isSenderOf({ senders }: KnownReporter, domain: string): boolean {
  return senders.some((sender) => sender === domain || sender.endsWith(`.${domain}`));
}

function listNamed(
  { orgName, email }: Named,
  toOrganizationalDomain: ToOrganizationalDomain,
): string[] {
  return [toName(orgName), (email ?? '').slice((email ?? '').lastIndexOf('@') + 1)]
    .flatMap((text) => parseDomainName(text) ?? [])
    .map(toOrganizationalDomain);
}

/** Its organisation, or else the domain of its e-mail address: some reports name no organisation. */
export function findReporterName({
  reporter_org,
  reporter_email,
}: Readonly<Record<'reporter_org' | 'reporter_email', string | null>>): string | null {
  return reporter_org ?? (reporter_email?.split('@').at(-1) || null);
}
