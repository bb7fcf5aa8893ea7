import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { checkReportRoute } from '../dns/route-lookup.ts';
import { lookUpSenderRecords } from '../dns/sender-records-lookup.ts';
import { checkTls } from '../dns/tls-lookup.ts';
import { describeRecords } from '../domain/dns/sender-record-texts.ts';
import { addLooked, toTold } from '../domain/dns/sender-records.ts';
import { toTlsFindings } from '../domain/dns/tls-findings.ts';
import { parseDomainName } from '../domain/domain-name.ts';
import { Failure } from '../domain/failure.ts';
import { toInstant } from '../domain/instant.ts';
import { pluralize } from '../domain/text.ts';
import { listSenderNames } from '../judging/sender-names.ts';
import { listReportAddresses } from '../store/accounts/mail-address.ts';
import {
  findLastArrival,
  type LastArrival,
  listUnclaimed,
} from '../store/domains/domain-reports.ts';
import { type DomainRow, listAllDomains, updateDomainStatus } from '../store/domains/domains.ts';
import { findNamedDomain } from '../store/domains/find-by-name.ts';
import { removeDomain } from '../store/domains/removed-domains.ts';
import { giveBackSpace } from '../store/engine/given-back.ts';
import { addDomains } from './domain/additions.ts';
import { defineProposals } from './domain/proposals.ts';
import { confirm } from './output/confirm.ts';
import {
  type Flags,
  hint,
  type OutputOptions,
  printList,
  printOne,
  printResult,
  tellOfSpace,
  toShortTime,
} from './output/output.ts';
import { UsageError } from './output/report-error.ts';
import { withAccount, withStore } from './with-store.ts';

/** Anybody can send reports about any number of names. */
const MAX_UNCLAIMED = 1_000;

const CHECK_HELP = `
Asks DNS for the domain's rua tag, for the record with which the host of our address says that it takes these
reports, and for the mail servers of that host. Exit status: 0 when all is right, 1 when something is wrong.`;

export function define(domain: Command): void {
  domain
    .command('add <account> [name]')
    .description('Register a domain, and claim the reports that came for it before.')
    .option('--file <file>', 'register each domain of a file, one a line; “-” is standard input')
    .action(addDomains);

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
    .action(async (account: string | undefined, options: Flags<'unclaimed'>) => {
      if ((account === undefined) !== (options.unclaimed === true))
        throw new UsageError('Give an account, or --unclaimed.');
      if (account === undefined) return await printUnclaimed(options);
      const domains = await withAccount(account, listAllDomains);
      const none = 'The account has no domain yet: plumbline domain add <account> <name>';
      printList(domains.map(toOutput), { none }, options);
    });

  for (const [verb, status] of [
    ['pause', 'paused'],
    ['resume', 'active'],
  ] as const) {
    domain
      .command(`${verb} <domain>`)
      .description(`Make a domain ${status}.`)
      .action(async (name: string, options: OutputOptions) => {
        const now = toInstant(new Date());
        const changed = await withStore(async ({ db }) =>
          updateDomainStatus(db, (await findNamedDomain(db, name)).id, status, now),
        );
        printOne(toOutput(changed), options);
      });
  }

  domain
    .command('remove <domain>')
    .description(
      'Take a domain from its account, with its alerts and marks. Reports stay, unclaimed.',
    )
    .option('--delete-reports', 'delete its reports, too: it asks first')
    .option('--yes', 'do not ask')
    .action(removeOne);

  defineProposals(domain);
}

async function removeOne(given: string, options: Flags<'deleteReports' | 'yes'>): Promise<void> {
  const { deleteReports: deletesReports = false, yes = false, ...output } = options;
  await withStore(async ({ db }) => {
    const { id, name, reports_total, tls_total } = await findNamedDomain(db, given);
    const reports = reports_total + tls_total;
    if (deletesReports && !yes)
      await confirm(
        `${name} has ${pluralize(reports, 'report')}. ${reports === 1 ? 'It' : 'They'} will be deleted, with the domain’s alerts and the marks of its sources.`,
        name,
      );
    await removeDomain(db, id, { deletesReports });
    printOne({ id, domain: name, removed: true }, output);
    hint('Its alerts and the marks of its sources were deleted.', output);
    if (deletesReports) tellOfSpace(await giveBackSpace(db), output);
  });
}

async function printUnclaimed(options: OutputOptions): Promise<void> {
  const { total, domains } = await withStore(({ db }) =>
    listUnclaimed(db, { limit: MAX_UNCLAIMED }),
  );
  const rows = domains.map(({ name, reports, tlsReports, lastReportAt }) => ({
    domain: name,
    reports,
    tls_reports: tlsReports,
    last_report_at: lastReportAt,
  }));
  const toColumns = ({ domain, reports, tls_reports, last_report_at }: (typeof rows)[number]) => ({
    domain,
    reports,
    'TLS reports': tls_reports,
    'last report (UTC)': toShortTime(last_report_at),
  });
  printList(rows, { none: 'Every report is of a domain that an account has.', toColumns }, options);
  if (total > rows.length) hint(`… and ${total - rows.length} more with fewer reports.`, options);
}

const NO_ADDRESS =
  'There is no address for these reports. Set PLUMBLINE_REPORT_ADDRESS to the address of the mailbox that ' +
  'Plumbline reads; or PLUMBLINE_SMTP_NAME, and add the domain to an account, which has an address of its own.';

async function checkDomain(name: string, options: OutputOptions): Promise<void> {
  const config = readConfig(process.env);
  const domain = parseDomainName(name);
  if (domain === undefined)
    throw new Failure('validation_error', `“${name}” is not a domain name.`);
  const { addresses, last, names } = await withStore(async (store) => {
    const last = await findLastArrival(store.db, domain);
    const of = { name: domain, now: new Date() };
    const own = { domain, selector: null, isProven: true };
    const names = last ? await listSenderNames(store, { ...of, domainId: last.domainId }) : [own];
    const accountId = last?.accountId ?? null;
    return { last, names, addresses: await listReportAddresses(store.db, accountId, config) };
  });
  if (addresses.length === 0) throw new Failure('validation_error', NO_ADDRESS);
  const { dnsServers, mailHost } = config;
  const [findings, checked, looked] = await Promise.all([
    checkReportRoute(dnsServers, { domain, addresses, mailHost }),
    checkTls(dnsServers, { domain, addresses, fetchesPolicy: config.fetchesPolicyFiles }),
    lookUpSenderRecords(dnsServers, names),
  ]);
  const told = describeRecords(toTold(addLooked(undefined, looked, true)));
  const tls = toTlsFindings(checked, { domain, address: addresses[0] ?? '' });
  const ok = findings.every((finding) => finding.ok);
  const { receivedAt: received_at = null, input = null } = last ?? {};
  const last_report = received_at === null ? null : { received_at, input };
  const lines = findings.map(({ ok, text }) => `${ok ? 'ok   ' : 'wrong'}  ${text}`);
  const tlsLines = tls.map(({ text }) => `tls    ${text}`);
  printResult(
    { domain, ok, addresses, findings, tls_findings: tls, sender_findings: told, last_report },
    [...lines, ...tlsLines, ...told.map((text) => `sender ${text}`), toSentence(last)],
    options,
  );
  if (!ok) process.exitCode = 1;
}

function toSentence(last: LastArrival | undefined): string {
  if (last === undefined)
    return 'No account has the domain, and no report came in for it: plumbline domain add <account> <name>';
  if (last.receivedAt === null) return 'No report has come in for it yet.';
  return `The last report came in at ${last.receivedAt}, in ${last.input}.`;
}

function toOutput({ id, name, status }: DomainRow) {
  return { id, domain: name, status };
}
