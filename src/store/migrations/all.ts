import type { Migration } from 'kysely/migration';
import * as first from './0001-first.ts';
import * as people from './0003-people.ts';

/** In the order they are run. Append only: what has run somewhere is never edited, renamed or removed. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first': first,
  '0003-people': people,
};
