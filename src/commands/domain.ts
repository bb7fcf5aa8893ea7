import type { Command } from 'commander';
import { parseDomainName } from '../domain/domain-name.ts';
import { Failure } from '../domain/failure.ts';
import { toInstant } from '../domain/instant.ts';
import {
  type DomainRow,
  insertDomain,
  listAllDomains,
  updateDomainStatus,
} from '../store/accounts/domains.ts';
import { findAccountId, findDomainId } from '../store/accounts/find-by-name.ts';
import { listRelatedDomains, type RelatedDomain } from '../store/accounts/related-domains.ts';
import { countReports, listUnclaimed } from '../store/accounts/unclaimed.ts';
import { checkDomain } from './domain/check-domain.ts';
import { hint, type OutputOptions, printList, printOne, tell } from './output/output.ts';
import { toShortTime } from './output/short-time.ts';
import { UsageError } from './output/usage-error.ts';
import { withStore } from './with-store.ts';

/** Anybody can make reports for any number of names come in. */
const MAX_UNCLAIMED = 1_000;

const CHECK_HELP = `
Asks DNS for the domain's rua tag, for the record with which the host of our address says that it takes these
reports, and for the mail servers of that host. Exit status: 0 when all is right, 1 when something is wrong.`;

export function addDomainCommands(domain: Command): void {
  domain
    .command('add <account> <name>')
    .description('Register a domain, and claim the reports that came for it before.')
    .action(addDomain);

  domain
    .command('check <name>')
    .description('Say whether reports about a domain can come: what DNS says, and what to publish.')
    .addHelpText('after', CHECK_HELP)
    .action(checkDomain);

  domain
    .command('list [account]')
    .description('List an account’s domains, paused ones too, or the domains that no account has.')
    .option(
      '--unclaimed',
      'domains that reports came in for and no account has, most reports first',
    )
    .action(async (account: string | undefined, options: ListOptions) => {
      if ((account === undefined) !== (options.unclaimed === true))
        throw new UsageError('Give an account, or --unclaimed.');
      if (account === undefined) await printUnclaimed(options);
      else await printDomains(account, options);
    });

  for (const [verb, status] of [
    ['pause', 'paused'],
    ['resume', 'active'],
  ] as const) {
    domain
      .command(`${verb} <domain>`)
      .description(`Make a domain ${status}.`)
      .action(async (given: string, options: OutputOptions) => {
        const now = toInstant(new Date());
        const changed = await withStore(async ({ db }) =>
          updateDomainStatus(db, await findDomainId(db, given), status, now),
        );
        printOne(toOutput(changed), options);
      });
  }
}

interface ListOptions extends OutputOptions {
  readonly unclaimed?: boolean;
}

async function addDomain(account: string, name: string, options: OutputOptions): Promise<void> {
  const now = toInstant(new Date());
  await requireOwnable(name);
  await withStore(async ({ db }) => {
    const accountId = await findAccountId(db, account);
    const added = await insertDomain(db, { accountId, name, now });
    printOne({ ...toOutput(added), claimed_reports: await countReports(db, added.id) }, options);
    for (const other of await listRelatedDomains(db, accountId, added.name)) warn(other);
  });
}

/**
 * Nobody owns a public suffix such as co.uk. Suffixes of private owners, such as github.io, are allowed: their
 * owner monitors them. The list of suffixes is loaded here only, because it takes 20 ms.
 */
async function requireOwnable(name: string): Promise<void> {
  const { getPublicSuffix } = await import('tldts');
  const parsed = parseDomainName(name);
  if (parsed === undefined || getPublicSuffix(parsed, { validateHostname: false }) !== parsed)
    return;
  throw new Failure(
    'validation_error',
    `“${parsed}” is a public suffix, under which others register their domains. Add a domain below it.`,
  );
}

/** Reports of a subdomain without a DMARC record of its own go to the owner of its parent. */
function warn({ name, accountId, relation }: RelatedDomain): void {
  tell(`Warning: the ${relation} ${name} belongs to another account, ${accountId}.`);
}

async function printDomains(account: string, options: OutputOptions): Promise<void> {
  const domains = await withStore(async ({ db }) =>
    listAllDomains(db, await findAccountId(db, account)),
  );
  const none = 'The account has no domain yet: plumbline domain add <account> <name>';
  printList(domains.map(toOutput), { none }, options);
}

async function printUnclaimed(options: OutputOptions): Promise<void> {
  const { total, domains } = await withStore(({ db }) =>
    listUnclaimed(db, { limit: MAX_UNCLAIMED }),
  );
  const rows = domains.map(({ name, reports, lastReportAt }) => ({
    domain: name,
    reports,
    last_report_at: lastReportAt,
  }));
  const toColumns = ({ domain, reports, last_report_at }: (typeof rows)[number]) => ({
    domain,
    reports,
    'last report (UTC)': toShortTime(last_report_at),
  });
  printList(rows, { none: 'Every report is of a domain that an account has.', toColumns }, options);
  if (total > rows.length) hint(`… and ${total - rows.length} more with fewer reports.`, options);
}

function toOutput({ id, name, status }: DomainRow) {
  return { id, domain: name, status };
}
