/** Carries out changes in a database, one transaction each. It is a process of its own for tests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fireAlert, settleAlert } from '../../src/store/alerts/alerts.ts';
import { updateDomainStatus } from '../../src/store/domains/domains.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { DomainStatus } from '../../src/store/tables.ts';
import { aReport, NOW, receive } from '../support/builders.ts';

export type Change =
  /** Reports of one domain, by the days that they cover. */
  | { readonly kind: 'reports'; readonly domain: number; readonly days: readonly number[] }
  | { readonly kind: 'fire'; readonly domain: number }
  /** Resolves one of the open alerts that this process has fired. */
  | { readonly kind: 'resolve'; readonly nth: number }
  | { readonly kind: 'status'; readonly domain: number; readonly status: DomainStatus }
  | { readonly kind: 'wait'; readonly ms: number };

export interface Work {
  /** Another one than that of the process, which is open only for these changes. */
  readonly database?: string;
  readonly accountId: string;
  readonly domains: readonly { readonly id: string; readonly name: string }[];
  readonly changes: readonly Change[];
}

type Db = Awaited<ReturnType<typeof openStore>>['db'];
const own = process.argv[2] === undefined ? undefined : await openStore(process.argv[2]);
let reports = 0;
let open: string[] = [];
let fired = 0;

const KINDS = [
  { type: 'alert.test', context: {} },
  {
    type: 'alert.alignment_regression',
    context: { drop_pct: 31.4, prev_pass_rate: 98.74, curr_pass_rate: 67.34 },
  },
] as const;

/** Each in turn. */
const nextKind = () => KINDS[fired++ % 2 === 0 ? 0 : 1];

async function carryOut(db: Db, { accountId, domains }: Work, change: Change): Promise<void> {
  const domain = 'domain' in change ? domains[change.domain] : undefined;
  if (change.kind === 'wait') await sleep(change.ms);
  if (change.kind === 'reports' && domain !== undefined) {
    const begins = change.days.map((day) => `2026-03-${String(day).padStart(2, '0')}T00:00:00Z`);
    const arriving = begins.map((begin) =>
      aReport({ domain: domain.name, begin, reportId: `${process.pid} ${reports++}` }),
    );
    await receive(db, arriving);
  }
  if (change.kind === 'fire' && domain !== undefined) {
    const alert = { accountId, domainId: domain.id, firedAt: NOW, ...nextKind() };
    const id = await db.write((tx) => fireAlert(tx, alert));
    if (id !== undefined) open.push(id);
  }
  if (change.kind === 'status' && domain !== undefined)
    await updateDomainStatus(db, domain.id, change.status);
  if (change.kind === 'resolve' && open.length > 0) {
    const [id] = open.splice(change.nth % open.length, 1) as [string];
    await db.write((tx) => settleAlert(tx, id, { resolved_at: NOW }));
  }
}

process.on('message', async (work: Work) => {
  open = [];
  const store = work.database === undefined ? own : await openStore(work.database);
  if (store === undefined) throw new Error('No database was named.');
  for (const change of work.changes) await carryOut(store.db, work, change);
  if (store !== own) await store.close();
  process.send?.('done');
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
