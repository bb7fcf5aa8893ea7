import { type Decision, decide } from '../domain/alerts/decide.ts';
import type { KnownAlert } from '../domain/alerts/facts.ts';
import type { Resolution } from '../domain/alerts/resolution.ts';
import type { Thresholds } from '../domain/alerts/thresholds.ts';
import { type Instant, toInstant } from '../domain/instant.ts';
import { lockDomain } from '../store/accounts/domains.ts';
import { findFacts, type WatchedDomain } from '../store/alerts/alert-facts.ts';
import { fireAlert, settleAlert } from '../store/alerts/alerts.ts';
import type { Tx } from '../store/engine/database.ts';
import type { Store } from '../store/engine/open.ts';
import { toReader } from '../store/engine/reader.ts';

export interface Given {
  readonly store: Store;
  readonly thresholds: Thresholds;
  readonly now: () => Date;
  /** Gets the error of one domain; the domains after it are evaluated all the same. */
  readonly logError?: (error: unknown) => void;
}

/** The result of an evaluation. */
export interface Evaluated {
  readonly domains: number;
  readonly fired: number;
  readonly resolved: number;
}

/**
 * Fires, updates and resolves the alerts of some domains, each domain by itself: an error in one does not
 * stop the others. Without `logError`, the errors are thrown together at the end.
 */
export async function evaluate(given: Given, domainIds: Iterable<string>): Promise<Evaluated> {
  const sum = { domains: 0, fired: 0, resolved: 0 };
  const errors: unknown[] = [];
  const logError = given.logError ?? ((error) => errors.push(error));
  for (const domainId of domainIds) {
    try {
      const { fired, resolved } = await evaluateDomain(given, domainId);
      sum.domains += 1;
      sum.fired += fired;
      sum.resolved += resolved;
    } catch (error) {
      logError(toFailed(domainId, error));
    }
  }
  if (errors.length > 0) throw toOne(errors);
  return sum;
}

function toFailed(domainId: string, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`Alerts of domain ${domainId} could not be evaluated: ${why}`, { cause });
}

function toOne(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  return new AggregateError(errors, `Alerts of ${errors.length} domains could not be evaluated.`);
}

type Changed = Omit<Evaluated, 'domains'>;

/**
 * Most evaluations change nothing, and those only read, so they do not wait for the write lock. When there is
 * something to do, the facts are read again and the changes are made in one transaction.
 */
async function evaluateDomain(
  { store, thresholds, now }: Given,
  domainId: string,
): Promise<Changed> {
  const asked = { domainId, now: toInstant(now()), thresholds };
  const seen = await findFacts(store.reader, asked);
  if (seen === undefined || decide(seen.facts, thresholds).length === 0)
    return { fired: 0, resolved: 0 };
  return await store.db.write(async (tx) => {
    await lockDomain(tx, domainId);
    const domain = await findFacts(toReader(tx), asked);
    if (domain === undefined) return { fired: 0, resolved: 0 };
    return await carryOut(tx, domain, decide(domain.facts, thresholds));
  });
}

async function carryOut(
  tx: Tx,
  domain: WatchedDomain,
  decisions: readonly Decision[],
): Promise<Changed> {
  let [fired, resolved] = [0, 0];
  for (const decision of decisions) {
    const changed = await carryOutOne(tx, domain, decision);
    fired += changed.fired;
    resolved += changed.resolved;
  }
  return { fired, resolved };
}

/** A kind of decision that is not carried out does not compile. */
async function carryOutOne(tx: Tx, domain: WatchedDomain, decision: Decision): Promise<Changed> {
  const { now } = domain.facts;
  switch (decision.kind) {
    case 'fire':
      return await fire(tx, domain, decision);
    case 'resolve':
      return { fired: 0, resolved: await resolve(tx, decision, now) };
    case 'update':
      await settleAlert(tx, decision.alert.id, { context: JSON.stringify(decision.context) });
      return { fired: 0, resolved: 0 };
  }
}

async function fire(
  tx: Tx,
  { id, accountId, facts: { now } }: WatchedDomain,
  { type, occurrence: { subject, context, ending } }: Extract<Decision, { kind: 'fire' }>,
): Promise<Changed> {
  const alert = { accountId, domainId: id, type, subject, firedAt: now, context };
  const alertId = await fireAlert(tx, alert);
  if (alertId === undefined) return { fired: 0, resolved: 0 };
  if (ending === null) return { fired: 1, resolved: 0 };
  const ended = { alert: { id: alertId, context }, resolution: ending };
  return { fired: 1, resolved: await resolve(tx, ended, now) };
}

interface Ended {
  readonly alert: Pick<KnownAlert, 'id' | 'context'>;
  readonly resolution: Resolution;
}

/** How many were resolved: 0 when another process has resolved it meanwhile. */
async function resolve(tx: Tx, { alert, resolution }: Ended, now: Instant): Promise<number> {
  const context = JSON.stringify({ ...alert.context, resolution });
  return (await settleAlert(tx, alert.id, { resolved_at: now, context })) ? 1 : 0;
}
