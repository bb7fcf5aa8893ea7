import { setTimeout as sleep } from 'node:timers/promises';
import type { Thresholds } from '../domain/alerts/thresholds.ts';
import {
  findRecord,
  RECORD_TYPES,
  type RecordType,
  type RecordValue,
  toRecordName,
} from '../domain/dns/dns-record.ts';
import { addCheck } from '../domain/dns/dns-watch.ts';
import { findInherited, type InheritedPolicy, toParents } from '../domain/dns/held-policy.ts';
import { toInstant } from '../domain/instant.ts';
import {
  type DomainToCheck,
  listDomainsToCheck,
  updateDnsRecord,
} from '../store/alerts/dns-records.ts';
import type { Store } from '../store/engine/store.ts';
import type { ShardRun } from '../store/work/shards.ts';
import { createDns } from './resolver.ts';

/** A domain's record of a type; undefined when no server answered (SERVFAIL, timeout), which never counts. */
export type LookUp = (type: RecordType, domain: string) => Promise<RecordValue | undefined>;

export function createLookUp(servers: readonly string[], timeoutMs?: number): LookUp {
  const dns = createDns(servers, timeoutMs);
  return async (type, domain) => {
    const texts = await dns.findTexts(toRecordName(type, domain));
    return texts && findRecord(type, texts);
  };
}

/**
 * After a kill, another process checks the shard from the beginning, without domains checked within this time: more
 * than a shard takes, and much less than the hour between checks.
 */
const LATELY_MS = 30 * 60_000;
/** The longest wait without renewing the lease. */
const STEP_MS = 5_000;

interface RecordWatchDeps {
  readonly store: Store;
  readonly thresholds: Thresholds;
  readonly now: () => Date;
  readonly lookUp: LookUp;
  readonly evaluate: (domainId: string) => Promise<unknown>;
}

/** @internal Tests and the benchmark call it too. */
export async function checkDomain(deps: RecordWatchDeps, { id, name }: DomainToCheck) {
  const { store, thresholds, now, lookUp, evaluate } = deps;
  const look = async (type: RecordType) => ({ type, ...(await lookUpHeld(lookUp, type, name)) });
  const answers = await Promise.all(RECORD_TYPES.map(look));
  const at = toInstant(now());
  const errors: unknown[] = [];
  for (const { type, value, inherited } of answers) {
    if (value === undefined) continue;
    // One record whose state cannot be read must not keep the other from being checked.
    await updateDnsRecord(store.db, {
      domainId: id,
      type,
      at,
      update: (known) => addCheck(known, { type, value, inherited, at }, thresholds),
    }).catch((error) => errors.push(error));
  }
  if (answers.some(({ value }) => value !== undefined)) await evaluate(id);
  if (errors.length > 0) throw errors[0];
}

type Looked = { readonly value: RecordValue | undefined; readonly inherited?: InheritedPolicy };

/** Where a name has no DMARC record, those of the domains above; one that is not answered leaves all unknown. */
async function lookUpHeld(lookUp: LookUp, type: RecordType, name: string): Promise<Looked> {
  const value = await lookUp(type, name);
  if (type !== 'dmarc' || value !== null) return { value };
  const above = await Promise.all(
    toParents(name).map(async (from) => ({ from, value: await lookUp(type, from) })),
  );
  const answered = above.filter((one): one is Answered => one.value !== undefined);
  if (answered.length < above.length) return { value: undefined };
  const inherited = findInherited(answered);
  return { value, ...(inherited && { inherited }) };
}

type Answered = { readonly from: string; readonly value: RecordValue };

interface Pace {
  readonly logError: (error: unknown) => void;
  readonly overMs: number;
}

/** Checks a shard's domains that were not checked lately. Returns whether it came to the end. */
export async function checkShard(deps: RecordWatchDeps & Pace, run: ShardRun): Promise<boolean> {
  const { store, now } = deps;
  const at = now();
  const domains = await listDomainsToCheck(store.db, {
    shard: run.shard,
    now: toInstant(at),
    since: toInstant(new Date(at.getTime() - LATELY_MS)),
  });
  return await checkEach(domains, { ...deps, run }, (domain) => checkDomain(deps, domain));
}

/**
 * Checks domains evenly distributed over `overMs`, to spare resolvers. A slow answer delays no other check; rate and time limit
 * bound those in progress. Returns whether it came to the end.
 */
export async function checkEach<Domain>(
  domains: readonly Domain[],
  { logError, overMs, run }: Pace & { readonly run: ShardRun },
  check: (domain: Domain) => Promise<void>,
): Promise<boolean> {
  const begunAt = performance.now();
  const underWay = new Set<Promise<void>>();
  try {
    for (const [i, domain] of domains.entries()) {
      if (!(await waitUntil(begunAt + (overMs * i) / domains.length, run))) return false;
      const checking = check(domain).catch(logError);
      underWay.add(checking);
      void checking.finally(() => underWay.delete(checking));
    }
    return true;
  } finally {
    await Promise.all(underWay);
  }
}

/** Keeps the lease while it waits; false when the run has to end. */
async function waitUntil(time: number, { mayGoOn, signal }: ShardRun): Promise<boolean> {
  while (await mayGoOn()) {
    const leftMs = time - performance.now();
    if (leftMs <= 0) return true;
    await sleep(Math.min(leftMs, STEP_MS), undefined, { signal }).catch(() => undefined);
  }
  return false;
}
