import type Database from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { BoundQuery, Compile } from '../prepared.ts';

/** Of all queries together. A row is a few short texts. */
const MAX_ROWS = 1_000;

/**
 * Rows that were read, until the database changes. SQLite's `data_version` differs when any other connection, of this
 * process or of another one, has committed a change (sqlite.org/pragma.html). SQLite forgets its own pages by
 * the same rule. So a row costs nothing but the question whether the database has changed (decision 108).
 */
export class KnownRows {
  readonly #dataVersion: Database.Statement<[], number>;
  readonly #rows = new LRUCache<string, object>({ max: MAX_ROWS });
  readonly #ids = new Map<Compile<unknown>, number>();
  #version: number | undefined;

  /** The connection must not write: its own changes leave the number as it is. */
  constructor(connection: Database.Database) {
    this.#dataVersion = connection.prepare<[], number>('pragma data_version').pluck();
  }

  noticeChanges(): void {
    const version = this.#dataVersion.get();
    if (version === this.#version) return;
    this.#rows.clear();
    this.#version = version;
  }

  find<Row extends object>(query: BoundQuery<Row>): Row | undefined {
    return this.#rows.get(this.#toKey(query)) as Row | undefined;
  }

  /** Returns the row. That there is none is not kept: whoever asks for what is not there must not remove the others. */
  keep<Row extends object>(query: BoundQuery<Row>, row: Row | undefined): Row | undefined {
    if (row !== undefined) this.#rows.set(this.#toKey(query), row);
    return row;
  }

  #toKey({ compile, params }: BoundQuery<unknown>): string {
    const id = this.#ids.get(compile) ?? this.#ids.size;
    this.#ids.set(compile, id);
    return `${id} ${JSON.stringify(params)}`;
  }
}
