import type Database from 'better-sqlite3';
import { FROZEN, parseMarker, toMovedFailure, toMovingFailure } from '../../move/marker.ts';

/** The Failure for a change that a move to PostgreSQL refused. Any other error is returned as it is. */
export function toFrozen(connection: Database.Database, error: unknown): unknown {
  if (!(error instanceof Error) || error.message !== FROZEN) return error;
  const names = connection.prepare('select name from kysely_migration').pluck().all() as string[];
  const marker = names.map(parseMarker).find((found) => found !== undefined);
  if (marker === undefined) return error;
  const toFailure = marker.state === 'moved' ? toMovedFailure : toMovingFailure;
  return toFailure(connection.name, marker);
}
