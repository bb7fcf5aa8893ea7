import { sql } from 'kysely';
import { dialectOf } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';

/** The domains of an account among some names, which are a list in JSON. */
export const sistersOf = prepareQuery((db, param: Param<{ accountId: string; names: string }>) =>
  db
    .selectFrom('domain')
    .select('name')
    .where('account_id', '=', param('accountId'))
    .where(dialectOf(db).isIn(sql.ref('name'), param('names'), 'text')),
);
