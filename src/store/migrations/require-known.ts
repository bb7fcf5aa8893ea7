import { Failure } from '../../domain/failure.ts';
import type { Steps } from './all.ts';

/** The first migration of version 1.1.0 and before, whose schema is not migrated to this one. */
const FIRST_OF_FORMER_SCHEMA = '0001-first';

/** Throws `conflict` when a migration has run that this version does not have. `shown` names the database. */
export function requireKnown(shown: string, applied: readonly string[], steps: Steps): void {
  if (applied.includes(FIRST_OF_FORMER_SCHEMA))
    throw new Failure(
      'conflict',
      `The database ${shown} was written by an older version that cannot be migrated: the schema began anew after it. ` +
        'Set PLUMBLINE_DATABASE to a new database and ingest the reports again, or install the older version.',
    );
  const unknown = applied.find((name) => !Object.hasOwn(steps, name));
  if (unknown === undefined) return;
  throw new Failure(
    'conflict',
    `The database ${shown} was written by a newer version of Plumbline (migration ${unknown}). ` +
      'Install that version, or restore a backup from before its upgrade.',
  );
}
