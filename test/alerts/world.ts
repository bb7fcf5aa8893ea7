import {
  BARE_METADATA,
  BARE_POLICY,
  BARE_REPORT,
  recordsOf,
  withRecords,
} from '../../scripts/bare-report.ts';
import { receiveInputs } from '../../scripts/receive.ts';
import { type EvaluateDeps, evaluate } from '../../src/alerts/evaluate.ts';
import { DEFAULT_THRESHOLDS } from '../../src/domain/alerts/thresholds.ts';
import { addDays, type Day, type Instant } from '../../src/domain/instant.ts';
import type { AggregateReport } from '../../src/domain/reports/aggregate-report.ts';
import type { Report } from '../../src/domain/reports/report.ts';
import { insertAccount } from '../../src/store/accounts/accounts.ts';
import { insertDomain } from '../../src/store/domains/domains.ts';
import type { Store } from '../../src/store/engine/store.ts';
import type { DocumentSender } from '../../src/store/reports/senders.ts';

let count = 0;

/** What one address sent. */
export type Sent = readonly [address: string, messages: number, aligned: number];

/** A report of one day. */
export function reportOf(
  domain: string,
  day: Day,
  sent: readonly Sent[],
  reportId = `report ${++count}`,
): AggregateReport {
  const begin = Date.parse(day) / 1000;
  const parts = {
    ...BARE_REPORT,
    metadata: {
      ...BARE_METADATA,
      ...{ orgName: 'Mailbox Provider', email: null, reportId, begin, end: begin + 86_399 },
    },
    policyPublished: { ...BARE_POLICY, domain },
    payloadSha256: reportId,
  };
  const records = sent.flatMap(([address, messages, aligned]) =>
    recordsOf(address, messages, aligned),
  );
  return withRecords(parts, records);
}

/** An account with one domain, its clock, and functions for events. */
export async function aWorld(store: Store, { name = `d${++count}.example` } = {}) {
  let now: Instant = '2026-03-01T00:00:00Z';
  const { db } = store;
  const account = await insertAccount(db, { name: 'A', plan: 'pro', now, allowDuplicate: true });
  const { id } = await insertDomain(db, { accountId: account.id, name, now });
  const deps: EvaluateDeps = { store, thresholds: DEFAULT_THRESHOLDS, now: () => new Date(now) };
  const receive = async (reports: readonly Report[], at: Instant, sender: DocumentSender = {}) => {
    now = at;
    const documents = reports.map((content) => ({ member: [], content, ...sender }));
    const source = { name: 'test', bytes: Buffer.from(`file ${++count}`), documents };
    await receiveInputs(db, [source], at);
  };
  return {
    id,
    accountId: account.id,
    name,
    deps,
    receive,
    setNow: (at: Instant) => {
      now = at;
    },
    evaluate: () => evaluate(deps, [id]),
    /** Stores the reports of a day on the next morning, and evaluates alerts. */
    day: async (day: Day, sent: readonly Sent[]) => {
      await receive([reportOf(name, day, sent)], `${addDays(day, 1)}T06:00:00Z`);
      return await evaluate(deps, [id]);
    },
    alerts: () => listOf(store, id),
  };
}

async function listOf({ db }: Store, domainId: string) {
  const rows = await db
    .selectFrom('alert')
    .select(['id', 'type', 'subject', 'fired_at', 'resolved_at', 'context'])
    .where('domain_id', '=', domainId)
    .orderBy('seq')
    .execute();
  return rows.map(({ context, ...row }) => ({ ...row, context: JSON.parse(context) }));
}
