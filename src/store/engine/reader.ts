import type { Tx } from './database.ts';
import { type BoundQuery, runAllPrepared, runPrepared } from './prepared.ts';

/** Runs prepared queries. Each read sees what was committed before it. */
export interface Reader {
  /** What a request needs before all else: a key, a session, the head of a list. On PostgreSQL it has connections of its own. */
  readFirst<Row>(query: BoundQuery<Row>): Promise<Row[]>;
  /** A reader for one request, where that saves something: all that it reads first sees what was committed before it. */
  forRequest?(): Reader;
  /** Of a reader for one request: the one that made it, by which is kept what was found (judging/kept.ts). */
  readonly madeBy?: Reader;
  readAll<Row>(query: BoundQuery<Row>): Promise<Row[]>;
  /**
   * The result of a plan, all of whose queries read one snapshot of the database. Servers that share the reports of an account
   * have one each: those that are asked have the same last change of what is named.
   */
  readPlan<Result>(plan: () => Plan<Result>, of?: Changing): Promise<Result>;
  /** Whether a query of several domains reads a snapshot of each server. */
  isDivided?(): boolean;
  /** Reads from the replica, if there is one and `isCurrent` accepts its result; else from the primary. */
  readNoOlder<Result>(
    read: (reader: Reader) => Promise<Result>,
    isCurrent: (result: Result) => boolean,
  ): Promise<Result>;
}

/** A domain, or without one an account, whose reports are read with what the coordinator says of them (decision 134). */
export interface Changing {
  readonly accountId?: string;
  readonly domainId?: string | undefined;
}

/** Queries that build on one another and read one snapshot: a generator that yields queries and gets the rows of each. */
export type Plan<Result> = Generator<readonly BoundQuery<unknown>[], Result, unknown[][]>;

type RowsOfAll<Queries extends readonly BoundQuery<unknown>[]> = {
  -readonly [I in keyof Queries]: Queries[I] extends BoundQuery<infer Row> ? Row[] : never;
};

/** The rows of one query, in a plan: `const rows = yield* ask(query)`. */
export function* ask<Row>(query: BoundQuery<Row>): Plan<Row[]> {
  const [rows] = yield [query];
  return rows as Row[];
}

/** The rows of independent queries: one wait for all of them. */
export function* askAll<Queries extends readonly BoundQuery<unknown>[]>(
  ...queries: Queries
): Plan<RowsOfAll<Queries>> {
  return (yield queries) as RowsOfAll<Queries>;
}

/** Runs a plan without a pause, for a driver that is synchronous. */
export function runPlan<Result>(
  plan: Plan<Result>,
  read: (queries: readonly BoundQuery<unknown>[]) => unknown[][],
): Result {
  let step = plan.next([]);
  while (!step.done) step = plan.next(read(step.value));
  return step.value;
}

export async function runPlanAsync<Result>(
  plan: Plan<Result>,
  read: (queries: readonly BoundQuery<unknown>[]) => Promise<unknown[][]>,
): Promise<Result> {
  let step = plan.next([]);
  while (!step.done) step = plan.next(await read(step.value));
  return step.value;
}

/** A reader that has no replica. */
export function createReader(
  methods: Pick<Reader, 'readAll' | 'readPlan'> & Partial<Reader>,
): Reader {
  const reader: Reader = {
    readFirst: methods.readAll,
    readNoOlder: (read) => read(reader),
    ...methods,
  };
  return reader;
}

/** Reads in an open transaction, including what it has written. */
export function toReader(tx: Tx): Reader {
  return createReader({
    readAll: (query) => runPrepared(tx, query),
    readPlan: (plan) => runPlanAsync(plan(), (queries) => runAllPrepared(tx, queries)),
  });
}
