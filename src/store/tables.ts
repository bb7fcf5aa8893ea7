import type { TABLES } from './migrations/0001-tables.ts';
import type { RowsOf } from './migrations/table.ts';

/**
 * The rows of the database, as the migrations describe them: one that adds tables or columns has them here too. Instants
 * are RFC 3339 text, which sorts by time and is served unchanged; ids are lower-case UUID text; flags are 0 or 1. `seq`
 * counts arrivals and breaks ties.
 *
 * The *head* of a list (`…_total`, `…_version`) is stored in the row that owns the list and changes in the
 * same transaction as the list: see lists/heads.ts.
 *
 * On PostgreSQL, tables can be divided by the domain or the list, reports and conflicts by `begin_date` too, and then their
 * keys have these (decision 90). So statements name them wherever they know them.
 */
export interface Tables extends RowsOf<typeof TABLES> {}

export type DomainStatus = Tables['domain']['status'];
