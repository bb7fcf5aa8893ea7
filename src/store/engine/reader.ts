import type { Tx } from './database.ts';
import { type Plan, runPlanAsync } from './plan.ts';
import { type BoundQuery, runPrepared } from './prepared.ts';

type Rows<Q extends readonly BoundQuery<unknown>[]> = {
  -readonly [I in keyof Q]: Q[I] extends BoundQuery<infer Row> ? Row[] : never;
};

/** Runs prepared queries. */
export interface Reader {
  /** The first row, undefined when there is none. */
  readFirst<Row>(query: BoundQuery<Row>): Promise<Row | undefined>;
  /**
   * The first row, undefined when there is none. It may be one that was read before: then the database had it
   * unchanged at the last call of `noticeChanges`.
   */
  readKnown<Row extends object>(query: BoundQuery<Row>): Promise<Row | undefined>;
  /**
   * Forgets the rows of `readKnown` when the database has changed. Each request that reads such rows calls it before.
   */
  noticeChanges(): void;
  /** The rows of each query, all from one snapshot of the database. */
  readTogether<Q extends readonly BoundQuery<unknown>[]>(...queries: Q): Promise<Rows<Q>>;
  /** The result of a plan, all of whose queries read one snapshot of the database. */
  readPlan<Result>(plan: () => Plan<Result>): Promise<Result>;
  /**
   * The same, from a replica when there is one that has what the caller knows already: `isCurrent` says so of
   * the replica's result.
   */
  readNoOlder<Result>(
    plan: () => Plan<Result>,
    isCurrent: (result: Result) => boolean,
  ): Promise<Result>;
  /**
   * The rows of one query that finds none in a database without what the caller knows already: from a replica
   * when it finds some there.
   */
  readCopy<Row>(query: BoundQuery<Row>): Promise<Row[]>;
}

/** Reads in an open transaction, including what it has written. */
export function toReader(tx: Tx): Reader {
  const readPlan: Reader['readPlan'] = (plan) =>
    runPlanAsync(plan(), (query) => runPrepared(tx, query));
  const readFirst: Reader['readFirst'] = async (query) => (await runPrepared(tx, query))[0];
  return {
    readFirst,
    readKnown: readFirst,
    noticeChanges: () => undefined,
    readTogether: async (...queries) => {
      const rows: unknown[] = [];
      for (const query of queries) rows.push(await runPrepared(tx, query));
      return rows as never;
    },
    readPlan,
    readNoOlder: readPlan,
    readCopy: (query) => runPrepared(tx, query),
  };
}
