import type { Migration } from 'kysely/migration';

/**
 * In the order in which they run. Append only: a migration that has run somewhere is never edited, renamed or
 * removed. Each is loaded when it runs: almost every process opens a database that needs none.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first': late(() => import('./0001-first.ts')),
  '0002-alerts': late(() => import('./0002-alerts.ts')),
  '0003-people': late(() => import('./0003-people.ts')),
  '0004-documents': late(() => import('./0004-documents.ts')),
  '0005-email-keys': late(() => import('./0005-email-keys.ts')),
  '0006-sources': late(() => import('./0006-sources.ts')),
  '0008-points': late(() => import('./0008-points.ts')),
  '0009-leases': late(() => import('./0009-leases.ts')),
  '0010-inbox': late(() => import('./0010-inbox.ts')),
  '0011-keys': late(() => import('./0011-keys.ts')),
  '0012-source-details': late(() => import('./0012-source-details.ts')),
  '0013-source-names': late(() => import('./0013-source-names.ts')),
  '0014-people': late(() => import('./0014-people.ts')),
  '0015-source-sums': late(() => import('./0015-source-sums.ts')),
  '0016-lists': late(() => import('./0016-lists.ts')),
};

function late(load: () => Promise<Migration>): Migration {
  return { up: async (db) => (await load()).up(db) };
}
