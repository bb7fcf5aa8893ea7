import {
  isAnyAnswered,
  type LookedRecords,
  type SenderName,
} from '../domain/dns/sender-records.ts';
import { DAY_MS, type Instant, toInstant } from '../domain/instant.ts';
import { isAnswered, type LookedTls } from '../domain/tls/tls-check.ts';
import { listSenderNames } from '../judging/sender-names.ts';
import {
  type DailyType,
  type DueDomain,
  listDueDomains,
  updateSenderRecords,
  updateTlsCheck,
} from '../store/alerts/daily-checks.ts';
import type { Store } from '../store/engine/store.ts';
import type { ShardRun } from '../store/work/shards.ts';
import { checkEach } from './record-watch.ts';

/** A little less than a day and an hour: the hourly runs are never exactly as far apart. */
const CHECKED_MS = 0.96 * DAY_MS;
const CONFIRMED_MS = 50 * 60_000;

interface WatchDeps {
  readonly store: Pick<Store, 'db' | 'aside'>;
  readonly now: () => Date;
  readonly logError: (error: unknown) => void;
  readonly overMs: number;
}

interface TlsWatchDeps extends WatchDeps {
  readonly check: (domain: string, addresses: readonly string[]) => Promise<LookedTls>;
  /** Those at which we take reports about an account's domains. */
  readonly listAddresses: (accountId: string) => Promise<readonly string[]>;
}

/**
 * Checks TLS reports and MTA-STS of a shard's domains, each once a day, and again within the hour where something new was found.
 * Nobody is asked where an installation has no address for reports. Returns whether it came to the end.
 */
export function checkTlsShard(deps: TlsWatchDeps, run: ShardRun): Promise<boolean> {
  const { store, now } = deps;
  const kind = { type: 'tls', confirmedMs: CONFIRMED_MS } as const;
  return checkDue(deps, run, kind, async ({ id: domainId, name, accountId }) => {
    const addresses = await deps.listAddresses(accountId);
    if (addresses.length === 0) return;
    const found = await deps.check(name, addresses);
    if (isAnswered(found))
      await updateTlsCheck(store.db, { domainId, at: toInstant(now()), found });
  });
}

interface SendersWatchDeps extends WatchDeps {
  readonly lookUp: (names: readonly SenderName[]) => Promise<LookedRecords>;
}

/** Checks the records of a shard's senders, each once a day. Returns whether it came to the end. */
export function checkSendersShard(deps: SendersWatchDeps, run: ShardRun): Promise<boolean> {
  const { store, now, lookUp } = deps;
  const kind = { type: 'senders', confirmedMs: CHECKED_MS } as const;
  return checkDue(deps, run, kind, async ({ id: domainId, name }) => {
    const found = await lookUp(await listSenderNames(store, { domainId, name, now: now() }));
    if (isAnyAnswered(found))
      await updateSenderRecords(store.db, { domainId, at: toInstant(now()), found });
  });
}

async function checkDue(
  deps: WatchDeps,
  run: ShardRun,
  { type, confirmedMs }: { readonly type: DailyType; readonly confirmedMs: number },
  check: (domain: DueDomain) => Promise<void>,
): Promise<boolean> {
  const { store, now } = deps;
  const ago = (ms: number): Instant => toInstant(new Date(now().getTime() - ms));
  const since = { since: ago(CHECKED_MS), sinceNew: ago(confirmedMs) };
  const domains = await listDueDomains(store.db, { type, shard: run.shard, now: ago(0), ...since });
  return await checkEach(domains, { ...deps, run }, check);
}
