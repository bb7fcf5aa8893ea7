import type { ToOrganizationalDomain } from '../dns/organizational-domain.ts';
import { parseDomainName } from '../domain-name.ts';
import type { ReportMetadata } from './aggregate-report.ts';

interface KnownReporter {
  /** What it calls itself in reports, in lower case. */
  readonly names: readonly string[];
  /** Its mails come from these domains or below. Mails of its customers come from others. */
  readonly senders: readonly string[];
}

/** The big reporters, whose customers or name anybody could use: only these senders are theirs. */
const KNOWN: readonly KnownReporter[] = [
  { names: ['google.com', 'google', 'google inc.', 'google llc'], senders: ['google.com'] },
  {
    names: ['outlook.com', 'enterprise outlook', 'hotmail.com', 'microsoft.com', 'microsoft corp.'],
    senders: ['microsoft.com'],
  },
  {
    names: ['yahoo', 'yahoo.com', 'yahoo inc.', 'yahoo! inc.', 'aol', 'aol.com'],
    senders: ['dmarc.yahoo.com', 'yahooinc.com'],
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
  { orgName, email }: Pick<ReportMetadata, 'orgName' | 'email'>,
  toOrganizationalDomain: ToOrganizationalDomain,
): string | undefined {
  const name = (orgName ?? '').trim().toLowerCase();
  const known = KNOWN.find(({ names }) => names.includes(name));
  const named = [name, (email ?? '').slice((email ?? '').lastIndexOf('@') + 1)]
    .flatMap((text) => parseDomainName(text) ?? [])
    .map(toOrganizationalDomain);
  const sender = senders.find((sender) =>
    known === undefined
      ? named.includes(toOrganizationalDomain(sender))
      : known.senders.some((one) => sender === one || sender.endsWith(`.${one}`)),
  );
  return sender && toOrganizationalDomain(sender);
}
