import type { Migration } from 'kysely/migration';
import { up as first } from './0001-first.ts';
import { up as alerts } from './0002-alerts.ts';
import { up as people } from './0003-people.ts';
import { up as documents } from './0004-documents.ts';
import { up as emailKeys } from './0005-email-keys.ts';
import { up as sources } from './0006-sources.ts';
import { up as points } from './0008-points.ts';

/**
 * In the order in which they run. Append only: a migration that has run somewhere is never edited, renamed or
 * removed.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first': { up: first },
  '0002-alerts': { up: alerts },
  '0003-people': { up: people },
  '0004-documents': { up: documents },
  '0005-email-keys': { up: emailKeys },
  '0006-sources': { up: sources },
  '0008-points': { up: points },
};
