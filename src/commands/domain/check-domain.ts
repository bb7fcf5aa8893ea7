import { readConfig } from '../../config/config.ts';
import { checkReportRoute } from '../../dns/route-lookup.ts';
import type { Finding } from '../../domain/dns/report-route.ts';
import { parseDomainName } from '../../domain/domain-name.ts';
import { Failure } from '../../domain/failure.ts';
import { listReportAddresses } from '../../store/accounts/mail-address.ts';
import { findLastArrival, type LastArrival } from '../../store/inbox/last-arrival.ts';
import { type OutputOptions, printJson, printText } from '../output/output.ts';
import { withStore } from '../with-store.ts';

const NO_ADDRESS =
  'There is no address for these reports. Set PLUMBLINE_REPORT_ADDRESS to the address of the mailbox that ' +
  'Plumbline reads; or PLUMBLINE_SMTP_NAME, and add the domain to an account, which has an address of its own.';

/** Says in words whether reports about a domain can come, and ends with status 1 when something is wrong. */
export async function checkDomain(given: string, options: OutputOptions): Promise<void> {
  const config = readConfig(process.env);
  const domain = parseDomainName(given);
  if (domain === undefined)
    throw new Failure('validation_error', `“${given}” is not a domain name.`);
  const { addresses, last } = await withStore(async ({ db }) => {
    const last = await findLastArrival(db, domain);
    return { last, addresses: await listReportAddresses(db, last?.accountId ?? null, config) };
  });
  if (addresses.length === 0) throw new Failure('validation_error', NO_ADDRESS);
  const { dnsServers, mailHost } = config;
  const findings = await checkReportRoute(dnsServers, { domain, addresses, mailHost });
  const ok = findings.every((finding) => finding.ok);
  if (options.json) printJson({ domain, ok, addresses, findings, last_report: toLast(last) });
  else printText([...findings.map(toLine), toSentence(last)]);
  if (!ok) process.exitCode = 1;
}

const toLine = ({ ok, text }: Finding): string => `${ok ? 'ok   ' : 'wrong'}  ${text}`;

function toSentence(last: LastArrival | undefined): string {
  if (last === undefined)
    return 'No account has the domain, and no report came in for it: plumbline domain add <account> <name>';
  if (last.receivedAt === null) return 'No report has come in for it yet.';
  return `The last report came in at ${last.receivedAt}, in ${last.input}.`;
}

function toLast(last: LastArrival | undefined) {
  if (last === undefined || last.receivedAt === null) return null;
  return { received_at: last.receivedAt, input: last.input };
}
