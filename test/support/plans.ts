import { sql } from 'kysely';
import type { Db, Tx } from '../../src/store/engine/database.ts';
import type { BoundQuery } from '../../src/store/engine/prepared.ts';
import type { Reader } from '../../src/store/engine/reader.ts';
import { IS_POSTGRES } from './store.ts';

/** A reader that also notes what it was asked. */
export function record(reader: Reader, asked: BoundQuery<unknown>[]): Reader {
  const recorded: Reader = {
    readFirst: (query) => {
      asked.push(query);
      return reader.readFirst(query);
    },
    readAll: (query) => {
      asked.push(query);
      return reader.readAll(query);
    },
    readPlan: (plan) =>
      reader.readPlan(function* () {
        const queries = plan();
        let step = queries.next([]);
        while (!step.done) {
          asked.push(...step.value);
          step = queries.next(yield step.value);
        }
        return step.value;
      }),
    readNoOlder: (read) => read(recorded),
  };
  return recorded;
}

/** The lines of a query's plan. On PostgreSQL, a generic one is for any values. */
export async function explain(
  tx: Tx,
  query: BoundQuery<unknown>,
  { isGeneric = false } = {},
): Promise<readonly string[]> {
  const { sql: text, parameters: values } = query(tx);
  if (!isGeneric)
    return await run(tx, `explain ${IS_POSTGRES ? '' : 'query plan '}${text}`, values);
  await sql`set local plan_cache_mode = force_generic_plan`.execute(tx);
  await sql`prepare explained as ${sql.raw(text)}`.execute(tx);
  const lines = await run(tx, `explain execute explained(${values.map(() => 'null')})`, []);
  await sql`deallocate explained`.execute(tx);
  return lines;
}

/** The lines of a query's plan over empty tables: PostgreSQL would scan or sort what has no rows, whatever its indexes. */
export async function explainOfMany(db: Db, query: BoundQuery<unknown>) {
  return await db.write(async (tx) => {
    if (IS_POSTGRES) await sql`set local enable_seqscan = off`.execute(tx);
    if (IS_POSTGRES) await sql`set local enable_sort = off`.execute(tx);
    return await explain(tx, query);
  });
}

async function run(tx: Tx, text: string, values: readonly unknown[]): Promise<string[]> {
  // Each placeholder of the text is one of Kysely's, in its order.
  const pieces = text.split(/\$\d+|\?/);
  const { rows } = await sql<Record<string, unknown>>`${sql.join(
    pieces.flatMap((piece, i) => [
      sql.raw(piece),
      ...(i < values.length ? [sql.val(values[i])] : []),
    ]),
    sql``,
  )}`.execute(tx);
  return rows.map((row) => `${row['QUERY PLAN'] ?? row['detail']}`);
}
