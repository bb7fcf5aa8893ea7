import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { dialectOf, type JsonText } from '../engine/dialect.ts';
import { type Param, prepareQuery, type Value } from '../engine/prepared.ts';
import type { Condition, Declaration, Filters, Scope } from './declaration.ts';
import type { FollowedItem } from './followed.ts';
import { isVersion } from './heads.ts';

/** A part of a list without values: those come by their places. */
export type QueryShape = readonly (readonly [column: string, is: Condition[1]])[];

type Params = Readonly<Record<string, Value>>;
type Given = Param<Params>;

/** The queries of a list with one combination of filters, whose rows are those of all parts. */
export function prepareList<F extends Filters>(
  { table, order: [by, then], key = by }: Omit<Declaration<F, string>, 'scopes'>,
  { isOwn, fields, version }: Scope<F>,
  parts: readonly QueryShape[],
) {
  // With the table's name: alone it would be the field of the JSON, which PostgreSQL has no index of.
  const column = (name: string) => sql.ref(`${table}.${name}`);
  const order = (toRef: typeof column) =>
    then === undefined ? toRef(by) : sql`${toRef(by)} desc, ${toRef(then)} desc`;
  const own = (param: Given) =>
    sql`from ${sql.table(table)} where ${isOwn(param('owner') as Expression<string>)}`;
  const isCurrent = (param: Given) =>
    isVersion(version, [param('owner'), param('version')] as never);

  /** A range is no reason to read all rows of it, and sort them, where the order is that of the key. */
  const rows = (param: Given, i: number, isByKey = false) => {
    const holds = (parts[i] ?? []).map(([name, is], n) => {
      const condition = compare(column(name), is, param(`${i} ${n}`));
      return isByKey && name === by ? afterwards(condition) : condition;
    });
    return sql`${sql.join([own(param), ...holds], sql` and `)}`;
  };

  const places = [...new Set([by, then ?? by, key])];
  const columns = sql.join(places.map((name) => sql.ref(name)));
  const unite = (toRows: (i: number) => RawBuilder<unknown>) =>
    sql`${sql.join(
      parts.map((_, i) => sql`select ${columns} from (select ${columns} ${toRows(i)}) as part`),
      sql` union all `,
    )}`;

  /** The rows at the places of a page: what a page skips is not read. */
  const at = (param: Given, jsonRow: RawBuilder<JsonText<unknown>>, page: RawBuilder<unknown>) => {
    const isAt = [by, then ?? by].map((name) => sql`${column(name)} = ${sql.ref(`place.${name}`)}`);
    const row = sql.join([sql`select ${jsonRow} ${own(param)}`, ...isAt], sql` and `);
    return sql<
      FollowedItem<unknown>
    >`select (${row}) as item, ${sql.ref(`place.${key}`)} as ${sql.ref('key')}
      from (${page}) as place where ${isCurrent(param)}`;
  };

  /** What is read by the index of its part has its key behind a plus: SQLite would read all that arrived, for their order. */
  const arrived = (param: Given) => {
    const isAfter = sql`${sql.ref(key)} > ${param('after')}`;
    if (parts.length === 1) return sql`select ${columns} ${rows(param, 0, true)} and ${isAfter}`;
    const shown = places.map(
      (name) => sql`${sql.raw(name === key ? '+' : '')}${sql.ref(name)} as ${sql.ref(name)}`,
    );
    const all = sql`select ${sql.join(shown)} from (${unite((i) => rows(param, i))}) as part`;
    return sql`select ${columns} from (${all}) as place where ${isAfter}`;
  };

  return {
    items: prepareQuery((db, param: Given) => {
      const { isDivided, typed, jsonRow, jsonRows } = dialectOf(db);
      const [skip, limit] = [param('skip'), param('limit')].map((one) => typed(one, 'bigint'));
      if (parts.length === 1)
        return jsonRows(
          fields(db),
          sql`${rows(param, 0)} and ${isCurrent(param)} order by ${order(column)} limit ${limit} offset ${skip}`,
        );
      // PostgreSQL would read all of a part: each ends where the page does.
      const ends = sql`order by ${order(column)} limit ${skip} + ${limit}`;
      if (isDivided) {
        // The rows at places could be on other servers than the places.
        const shown = sql.join([sql`${jsonRow(fields(db))} as item`, columns]);
        const all = parts.map(
          (_, i) =>
            sql`select * from (select ${shown} ${rows(param, i)} and ${isCurrent(param)} ${ends}) as part`,
        );
        const united = sql`(${sql.join(all, sql` union all `)}) as page`;
        return sql<
          FollowedItem<unknown>
        >`select item, ${sql.ref(key)} as ${sql.ref('key')} from ${united} order by ${order(sql.ref)} limit ${limit} offset ${skip}`;
      }
      const page = unite((i) => sql`${rows(param, i)} ${ends}`);
      const ordered = sql`${page} order by ${order(sql.ref)} limit ${limit} offset ${skip}`;
      return at(param, jsonRow(fields(db)), ordered);
    }),
    after: prepareQuery((db, param: Given) => {
      const page = sql`${arrived(param)} order by ${sql.ref(key)} limit ${param('limit')} offset ${param('skip')}`;
      return at(param, dialectOf(db).jsonRow(fields(db)), page);
    }),
    count: prepareQuery((_db, param: Given) =>
      countAll(
        parts.length === 1
          ? rows(param, 0)
          : sql`from (${unite((i) => rows(param, i))}) as counted`,
      ),
    ),
    countAfter: prepareQuery((_db, param: Given) =>
      countAll(sql`from (${arrived(param)}) as arrived`),
    ),
  };
}

const countAll = (from: RawBuilder<unknown>) =>
  sql<{ total: number }>`select count(*) as total ${from}`;

function compare(name: RawBuilder<unknown>, is: Condition[1], value: Expression<unknown>) {
  const isUnary = is === 'is null' || is === 'is not null';
  return isUnary
    ? sql<SqlBool>`${name} ${sql.raw(is)}`
    : sql<SqlBool>`${name} ${sql.raw(is)} ${value}`;
}

/** Not `= 1`: PostgreSQL would expect few of them, read all that arrived, and sort them. */
const afterwards = (holds: RawBuilder<SqlBool>) =>
  sql<SqlBool>`case when ${holds} then 1 else 0 end <> 0`;
