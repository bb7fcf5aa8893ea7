import { Failure } from '../../domain/failure.ts';
import { MIGRATIONS } from './all.ts';

/** Throws `conflict` when a migration has run that this version does not know. `shown` names the database. */
export function requireKnown(shown: string, applied: readonly string[]): void {
  const unknown = applied.find((name) => !Object.hasOwn(MIGRATIONS, name));
  if (unknown === undefined) return;
  throw new Failure(
    'conflict',
    `The database ${shown} was written by a newer version of Plumbline (migration ${unknown}). ` +
      'Install that version, or restore a backup from before its upgrade.',
  );
}
