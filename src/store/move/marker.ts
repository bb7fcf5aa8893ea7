import { Failure } from '../../domain/failure.ts';

/*
 * How a database says that it takes part in a move from SQLite to PostgreSQL: by a row among its migrations. In
 * the SQLite database it stays, in the PostgreSQL database it is removed when the move is finished. A version
 * of Plumbline that does not know moves refuses a database with a migration that it does not know.
 */

/** What a SQLite database says of its move. */
export interface Marker {
  readonly state: 'moving' | 'moved';
  /** Random, the same in both databases. */
  readonly id: string;
  /** When the move began. */
  readonly at: string;
  /** The URL of the target, without its password. */
  readonly to: string;
}

const MARKER = /^9999-(moving|moved) (\S+) (\S+) (.+)$/;

export function toMigration({ state, id, at, to }: Marker): string {
  return `9999-${state} ${id} ${at} ${to}`;
}

/** The marker of a migration's name; undefined for a migration. */
export function parseMarker(migration: string): Marker | undefined {
  const [, state, id = '', at = '', to = ''] = MARKER.exec(migration) ?? [];
  return state === undefined ? undefined : { state: state as Marker['state'], id, at, to };
}

/** A SQLite database that was moved is not used any more. */
export function toMovedFailure(path: string, { at, to }: Marker): Failure {
  return new Failure(
    'conflict',
    `The database ${path} was moved to PostgreSQL at ${at}. Set PLUMBLINE_DATABASE to ${to}.`,
  );
}

/** Nothing is written to a SQLite database while it is moved. */
export function toMovingFailure(path: string, { to }: Marker): Failure {
  return new Failure(
    'unavailable',
    `The database ${path} is being moved to ${to}, so it can only be read. “plumbline move” with that URL ` +
      'finishes the move, “plumbline move --cancel” gives it up.',
  );
}

/** What the triggers of a database that is being moved, or was, say. */
export const FROZEN = 'This database is moved to PostgreSQL and is not written to any more.';

/** The name among the migrations of a PostgreSQL database that a move has not filled yet. */
export function toTargetMigration(id: string): string {
  return `9999-unfinished-move ${id}`;
}

/** The id of the move that has not filled a PostgreSQL database yet. */
export function findUnfinished(migrations: readonly string[]): string | undefined {
  const found = migrations.map((name) => /^9999-unfinished-move (\S+)$/.exec(name));
  return found.find((match) => match !== null)?.[1];
}
