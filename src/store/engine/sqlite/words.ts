import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/sqlite';
import type { Words } from '../words.ts';

const jsonRow: Words['jsonRow'] = (fields) => jsonBuildObject(fields as never) as never;

export const SQLITE_WORDS: Words = {
  jsonRow,
  jsonRows: (_db, query, fields) => query.select(jsonRow(fields).as('item')),
  asJson: (column) => sql`json(${column})`,
  isIn: (column, list) => sql`${column} in (select value from json_each(${list}))`,
  clockMs: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  // A transaction that writes is the only one.
  locked: (query) => query,
  takeTurns: async () => {},
};
