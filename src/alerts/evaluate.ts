import { setImmediate } from 'node:timers/promises';
import { type Decision, decide } from '../domain/alerts/decide.ts';
import type { KnownAlert } from '../domain/alerts/facts.ts';
import type { Resolution } from '../domain/alerts/resolution.ts';
import type { Thresholds } from '../domain/alerts/thresholds.ts';
import { type Instant, toInstant } from '../domain/instant.ts';
import { fireAlert, settleAlert } from '../store/alerts/alerts.ts';
import { listWatchedDomainIds } from '../store/domains/domains.ts';
import type { Tx } from '../store/engine/database.ts';
import { toReader } from '../store/engine/reader.ts';
import type { Store } from '../store/engine/store.ts';
import { lockDomain } from '../store/lists/heads.ts';
import type { ShardRun } from '../store/work/shards.ts';
import { findFacts, readFacts, type WatchedDomain } from './alert-facts.ts';

export interface EvaluateDeps {
  readonly store: Store;
  readonly thresholds: Thresholds;
  readonly now: () => Date;
  readonly logError?: (error: unknown) => void;
  readonly observe?: ((evaluated: Evaluated) => void) | undefined;
}

export interface Evaluated {
  readonly domains: number;
  readonly fired: number;
  readonly resolved: number;
}

/** An error in one domain does not stop the others. Without `logError`, errors are thrown together at the end. */
export async function evaluate(
  deps: EvaluateDeps,
  domainIds: Iterable<string>,
): Promise<Evaluated> {
  const sum = { domains: 0, fired: 0, resolved: 0 };
  const errors: unknown[] = [];
  const logError = deps.logError ?? ((error) => errors.push(error));
  for (const domainId of domainIds) {
    try {
      const { fired, resolved } = await evaluateDomain(deps, domainId);
      sum.domains += 1;
      sum.fired += fired;
      sum.resolved += resolved;
    } catch (error) {
      logError(describeFailure(domainId, error));
    }
  }
  deps.observe?.(sum);
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1)
    throw new AggregateError(errors, `Alerts of ${errors.length} domains could not be evaluated.`);
  return sum;
}

/** Evaluates all domains of a shard: missing reports trigger no ingest. Returns whether it came to the end. */
export async function evaluateShard(
  deps: EvaluateDeps & { readonly logError: (error: unknown) => void },
  { shard, mayGoOn }: ShardRun,
): Promise<boolean> {
  for (const id of await listWatchedDomainIds(deps.store.db, shard)) {
    if (!(await mayGoOn())) return false;
    await evaluate(deps, [id]);
    // Requests have priority: thousands of domains must not delay them.
    await setImmediate();
  }
  return true;
}

function describeFailure(domainId: string, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`Alerts of domain ${domainId} could not be evaluated: ${why}`, { cause });
}

type Changed = Omit<Evaluated, 'domains'>;

/** Most evaluations change nothing, so facts are read without the write lock first, and again for a change. */
async function evaluateDomain({ store, thresholds, now }: EvaluateDeps, domainId: string) {
  const query = { domainId, now: toInstant(now()), thresholds };
  const { domain: seen } = await readFacts(store, query);
  if (seen === undefined || decide(seen.views, thresholds).length === 0)
    return { fired: 0, resolved: 0 };
  return await store.db.write(async (tx) => {
    await lockDomain(tx, domainId);
    const { domain } = await findFacts(toReader(tx), query);
    if (domain === undefined) return { fired: 0, resolved: 0 };
    return await carryOut(tx, domain, decide(domain.views, thresholds));
  });
}

async function carryOut(
  tx: Tx,
  { id, accountId, views: [{ now }] }: WatchedDomain,
  decisions: readonly Decision[],
): Promise<Changed> {
  let [fired, resolved] = [0, 0];
  for (const decision of decisions) {
    switch (decision.kind) {
      case 'fire': {
        const { type, occurrence } = decision;
        const { subject, context, ending } = occurrence;
        const owner = { accountId, domainId: id };
        const alert = { ...owner, type, subject, firedAt: now, context, isOver: ending !== null };
        const alertId = await fireAlert(tx, alert);
        if (alertId === undefined) break;
        fired += 1;
        if (ending !== null)
          resolved += await resolve(tx, { id: alertId, context }, { resolution: ending, now });
        break;
      }
      case 'resolve':
        resolved += await resolve(tx, decision.alert, { resolution: decision.resolution, now });
        break;
      case 'update': {
        const context = JSON.stringify(decision.context);
        await settleAlert(tx, decision.alert.id, { context }, now);
        break;
      }
      default:
        // A kind of decision that is not carried out does not compile.
        decision satisfies never;
    }
  }
  return { fired, resolved };
}

/** How many were resolved: 0 when another process has resolved it meanwhile. */
async function resolve(
  tx: Tx,
  alert: Pick<KnownAlert, 'id' | 'context'>,
  { resolution, now }: { resolution: Resolution; now: Instant },
): Promise<number> {
  const context = JSON.stringify({ ...alert.context, resolution });
  return (await settleAlert(tx, alert.id, { resolved_at: now, context })) ? 1 : 0;
}
