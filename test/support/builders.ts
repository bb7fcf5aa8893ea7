import { hash } from 'node:crypto';
import { BARE_METADATA, BARE_POLICY, BARE_REPORT, withRecords } from '../../scripts/bare-report.ts';
import { receiveInputs } from '../../scripts/receive.ts';
import type { AccountPlan } from '../../src/domain/access/api-key.ts';
import type { Instant } from '../../src/domain/instant.ts';
import type {
  AggregateReport,
  DkimAuthResult,
  ReportRecord,
} from '../../src/domain/reports/aggregate-report.ts';
import { EMPTY_TALLY } from '../../src/domain/reports/alignment.ts';
import { packContent } from '../../src/domain/reports/report-content.ts';
import { insertAccount } from '../../src/store/accounts/accounts.ts';
import { insertApiKey } from '../../src/store/accounts/api-keys.ts';
import { fireAlert, settleAlert } from '../../src/store/alerts/alerts.ts';
import { insertDomain, updateDomainStatus } from '../../src/store/domains/domains.ts';
import type { Store } from '../../src/store/engine/store.ts';
import type { Outcome, ReceivedDocument } from '../../src/store/reports/receive.ts';
import type { DocumentSender } from '../../src/store/reports/senders.ts';
import type { DomainStatus } from '../../src/store/tables.ts';

type Db = Store['db'];

/** That of no row. */
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
/** The default time of every event. */
export const NOW: Instant = '2026-03-15T04:12:09Z';
const DAY_SECONDS = 86_400;

export interface TestAccount {
  readonly id: string;
  /** A whole key of the account. */
  readonly key: string;
  readonly keyId: string;
}

/** An account with one key. */
export async function anAccount(db: Db, { name = 'Example' } = {}): Promise<TestAccount> {
  const { id } = await insertAccount(db, { name, plan: 'pro', now: NOW, allowDuplicate: true });
  return { id, ...(await aKey(db, id)) };
}

/** An account without keys, on any plan. */
export async function aBareAccount(db: Db, plan: AccountPlan = 'pro'): Promise<string> {
  const { id } = await insertAccount(db, { name: 'Example', plan, now: NOW, allowDuplicate: true });
  return id;
}

export async function aKey(db: Db, accountId: string, name = 'nightly sync') {
  const { key, id } = await insertApiKey(db, { accountId, name, now: NOW });
  return { key, keyId: id };
}

/** One signature of a record. */
export function aSignature({
  domain = 'example.com' as string | null,
  selector = 'one' as string | null,
  result = 'pass' as string | null,
} = {}): DkimAuthResult {
  return { domain, selector, result, humanResult: null };
}

/** A report whose totals and sources are those of its records. */
export function aReportOf(records: readonly ReportRecord[], wanted: Wanted = {}): AggregateReport {
  return withRecords(aReport(wanted), records);
}

/** The code of a report, for another process. */
export function toCode({ content, ...report }: AggregateReport): string {
  const base64 = Buffer.from(content).toString('base64');
  return `({ ...${JSON.stringify(report)}, content: Buffer.from('${base64}', 'base64') })`;
}

let count = 0;
/** A number for unique default values. */
const next = () => ++count;

/** Creates a domain of an account; returns its id. */
export async function aDomain(
  db: Db,
  accountId: string,
  { name = `d${next()}.example`, status = 'active' as DomainStatus, now = NOW } = {},
): Promise<{ id: string; name: string }> {
  const { id } = await insertDomain(db, { accountId, name, now });
  if (status === 'paused') await updateDomainStatus(db, id, 'paused');
  return { id, name };
}

/** Creates an alert of an account's domain; returns its id. */
export async function anAlert(
  db: Db,
  owner: { readonly accountId: string; readonly domainId: string },
  {
    type = 'alert.alignment_regression',
    firedAt = NOW,
    resolvedAt = undefined as Instant | undefined,
    context = { drop_pct: 31.4, prev_pass_rate: 98.74, curr_pass_rate: 67.34 } as Record<
      string,
      unknown
    >,
  } = {},
): Promise<string> {
  const id = await db.write((tx) => fireAlert(tx, { ...owner, type, firedAt, context }));
  if (id === undefined) throw new Error(`${type} is open already.`);
  if (resolvedAt !== undefined) await resolveAlert(db, id, resolvedAt);
  return id;
}

/** Resolves an alert once: the first time is kept. */
export async function resolveAlert(db: Db, id: string, resolvedAt: Instant): Promise<void> {
  await db.write((tx) => settleAlert(tx, id, { resolved_at: resolvedAt }));
}

interface Wanted {
  readonly domain?: string;
  readonly orgName?: string | null;
  readonly email?: string | null;
  readonly reportId?: string | null;
  readonly policy?: Partial<AggregateReport['policyPublished']>;
  readonly begin?: Instant;
  readonly end?: Instant;
  readonly recordCount?: number;
  readonly totalMessages?: number;
  readonly alignedMessages?: number;
  /** Distinguishes the bytes from those of reports with the same fields: another text is another payload. */
  readonly payload?: string;
}

/** A report as the reader returns it. Each is a different one unless `reportId` is given. */
export function aReport({
  domain = 'example.com',
  orgName = 'Mailbox Provider',
  email = 'dmarc-reports@provider.example',
  reportId = `report-${next()}`,
  policy = {},
  begin = '2026-03-14T00:00:00Z',
  end,
  recordCount = 2,
  totalMessages = 10,
  alignedMessages = 7,
  payload = `payload of ${reportId}`,
}: Wanted = {}): AggregateReport {
  const beginSeconds = Date.parse(begin) / 1000;
  const report = {
    ...BARE_REPORT,
    metadata: {
      ...BARE_METADATA,
      orgName,
      email,
      reportId,
      begin: beginSeconds,
      end: end === undefined ? beginSeconds + DAY_SECONDS - 1 : Date.parse(end) / 1000,
    },
    policyPublished: { ...BARE_POLICY, domain, ...policy },
    tally: { ...EMPTY_TALLY, recordCount, totalMessages, alignedMessages },
    payloadSha256: hash('sha256', payload, 'hex'),
  };
  return { ...report, content: packContent(report, []) };
}

export { aRecord, recordsOf } from '../../scripts/bare-report.ts';

/** Stores documents as if each had come in a file of its own. */
export async function receive(
  db: Db,
  contents: readonly ReceivedDocument['content'][],
  receivedAt: Instant = NOW,
  sender: DocumentSender = {},
): Promise<Outcome[]> {
  const sources = contents.map((content) => ({
    name: 'test',
    // Two processes must not make the same file with different reports.
    bytes: Buffer.from(`file ${process.pid} ${next()}`),
    documents: [{ member: [], content, ...sender }],
  }));
  return await receiveInputs(db, sources, receivedAt);
}
