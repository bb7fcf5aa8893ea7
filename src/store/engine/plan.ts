import type { BoundQuery } from './prepared.ts';

/**
 * Queries that build on one another and read one snapshot: a generator that yields a query and gets its rows.
 * An engine whose driver is synchronous runs it without a pause, another one waits for each answer.
 */
export type Plan<Result> = Generator<BoundQuery<unknown>, Result, unknown[]>;

/** The rows of one query, in a plan: `const rows = yield* ask(query)`. */
export function* ask<Row>(query: BoundQuery<Row>): Plan<Row[]> {
  return (yield query) as Row[];
}

/** Runs a plan with a synchronous driver. */
export function runPlan<Result>(
  plan: Plan<Result>,
  read: (query: BoundQuery<unknown>) => unknown[],
): Result {
  let step = plan.next([]);
  while (!step.done) step = plan.next(read(step.value));
  return step.value;
}

/** Runs a plan with a driver that answers later. */
export async function runPlanAsync<Result>(
  plan: Plan<Result>,
  read: (query: BoundQuery<unknown>) => Promise<unknown[]>,
): Promise<Result> {
  let step = plan.next([]);
  while (!step.done) step = plan.next(await read(step.value));
  return step.value;
}
