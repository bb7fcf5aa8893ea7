import type { Migration } from 'kysely/migration';

/**
 * In the order in which they run. Append only: a migration that has run somewhere is never edited, renamed or
 * removed. Each is loaded when it runs, because almost every process opens a database that needs none.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-tables': late(() => import('./0001-tables.ts')),
};

function late(load: () => Promise<Migration>): Migration {
  return { up: async (db) => (await load()).up(db) };
}
