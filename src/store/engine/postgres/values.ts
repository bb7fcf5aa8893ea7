import pg from 'pg';

/*
 * What the driver makes of PostgreSQL's values: the same that SQLite stores. Ids and addresses are the server's text;
 * instants and days are written as the settings of `SESSION` say.
 */

/** A connection's settings, whatever those of the server, the database and the user are. */
export const SESSION = '-c TimeZone=UTC -c DateStyle=ISO';

type Parser = (text: string) => unknown;

const PARSERS: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  // int8 and numeric, which the driver gives as text. Sums stop at 2^53 − 1.
  [20, Number],
  [1700, Number],
  // date, which the driver gives as midnight in the time zone of this machine.
  [1082, String],
  // timestamptz: `2026-11-22 16:40:07+00`.
  [1184, (text) => `${text.slice(0, 10)}T${text.slice(11, 19)}Z`],
]);

export function findParser(oid: number, format?: 'text' | 'binary') {
  return PARSERS.get(oid) ?? pg.types.getTypeParser(oid, format as 'text');
}
