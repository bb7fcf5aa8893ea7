import { fileURLToPath } from 'node:url';
import { evaluate } from '../alerts/evaluate.ts';
import { DEFAULT_THRESHOLDS as thresholds } from '../domain/alerts/thresholds.ts';
import { Failure } from '../domain/failure.ts';
import { toInstant } from '../domain/instant.ts';
import { ingest } from '../intake/ingest.ts';
import { localParser } from '../intake/parser/parser.ts';
import { insertAccount, listAccounts } from '../store/accounts/accounts.ts';
import { insertApiKey } from '../store/accounts/api-keys.ts';
import { updateSenderRecords, updateTlsCheck } from '../store/alerts/daily-checks.ts';
import { updateMark } from '../store/days/marks.ts';
import { listUnclaimed } from '../store/domains/domain-reports.ts';
import { insertDomain } from '../store/domains/domains.ts';
import type { Db } from '../store/engine/database.ts';
import { openStore } from '../store/engine/open.ts';
import type { Store } from '../store/engine/store.ts';
import { type DemoDay, demoDays, toFirstDay } from './reports.ts';
import { toLookedRecords } from './sender-records.ts';
import { toTlsCheck } from './tls-reports.ts';
import { DOMAINS, MARKS } from './traffic.ts';

/** A database of the networks from which the demo's mail comes. */
export const DEMO_NETWORKS = fileURLToPath(new URL('./networks/networks.mmdb', import.meta.url));

export type DemoAccount = Awaited<ReturnType<typeof insertDemoAccount>>;

/** Throws `conflict` for a database with accounts or reports: made-up data must not get into it. */
export async function openEmpty(...database: Parameters<typeof openStore>): Promise<Store> {
  const store = await openStore(...database);
  try {
    await requireEmpty(store.db);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function requireEmpty(db: Db): Promise<void> {
  const accounts = await listAccounts(db);
  const { total } = await listUnclaimed(db, { limit: 1 });
  if (accounts.length > 0 || total > 0)
    throw new Failure('conflict', 'The database has data already: give an empty one.');
}

/** `fixed` has the account's id, the key and the domains' ids, when they must not be random; only these domains are added then. */
export async function insertDemoAccount(
  db: Db,
  today: Date,
  fixed: { id?: string; key?: string; ids?: Readonly<Record<string, string>> } = {},
) {
  const now = toInstant(toFirstDay(today));
  const named = { name: 'Demo account', plan: 'pro' } as const;
  const { id: accountId } = await insertAccount(db, { ...named, now, id: fixed.id });
  const { key } = await insertApiKey(db, { accountId, name: 'Demo key', now, key: fixed.key });
  const domains: { id: string; domain: string }[] = [];
  for (const { name } of DOMAINS) {
    if (fixed.ids !== undefined && !(name in fixed.ids)) continue;
    const { id } = await insertDomain(db, { accountId, name, now, id: fixed.ids?.[name] });
    domains.push({ id, domain: name });
  }
  return { account_id: accountId, key, domains };
}

/** Ingests ninety days of reports, evaluates the alerts, and marks sources, with the same code as real data. */
export async function ingestDemo(
  store: Store,
  { domains, account_id: accountId }: DemoAccount,
  today: Date,
): Promise<void> {
  const domainIds = domains.map(({ id }) => id);
  const reported = DOMAINS.filter(({ name }) => domains.some(({ domain }) => domain === name));
  for (const day of demoDays(today, reported)) {
    await ingestDay(store, day);
    await evaluate({ store, thresholds, now: () => day.receivedAt }, domainIds);
  }
  for (const { id: domainId, domain } of domains) {
    const asked = { domainId, at: toInstant(today), isAsked: true };
    const found = toTlsCheck(domain);
    if (found !== undefined) await updateTlsCheck(store.db, { ...asked, found });
    await updateSenderRecords(store.db, { ...asked, found: toLookedRecords(domain) });
  }
  const by = { accountId, name: 'demo@example.com', at: toInstant(today), address: null };
  for (const { domain: name, ...mark } of MARKS) {
    const domainId = domains.find(({ domain }) => domain === name)?.id as string;
    await updateMark(store.db, { domainId, ...mark }, by);
  }
}

async function ingestDay({ db }: Store, { receivedAt, files }: DemoDay): Promise<void> {
  // These bytes are generated here, so they can be read in this process.
  const deps = { db, now: () => receivedAt, parser: localParser };
  for await (const { outcome, input } of ingest(deps, toInputs(files))) {
    if (outcome !== 'stored') throw new Error(`The demo's ${input} was ${outcome}.`);
  }
}

async function* toInputs(files: DemoDay['files']) {
  for (const file of files) yield { name: file.name, read: async () => file };
}
