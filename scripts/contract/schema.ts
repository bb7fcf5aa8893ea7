import { type Dialect, DummyDriver, Kysely, type LogEvent } from 'kysely';
import { PlumblinePostgresDialect } from '../../src/store/engine/postgres/dialect.ts';
import { createSqliteDialect } from '../../src/store/engine/sqlite/connect.ts';
import { MIGRATIONS } from '../../src/store/migrations/all.ts';

/*
 * The schema of each release is kept as the statements that make it, one file for each engine: later versions migrate
 * it in `test/store/schemas.test.ts`. The migrations run without a database, and what they would send is kept.
 */

class PostgresWithoutDatabase extends PlumblinePostgresDialect {
  override createDriver = () => new DummyDriver();
}

const NO_DATABASE = undefined as never;

const DIALECTS = {
  sqlite: () => ({ ...createSqliteDialect(NO_DATABASE), createDriver: () => new DummyDriver() }),
  postgres: () => new PostgresWithoutDatabase({ pool: NO_DATABASE }),
} satisfies Record<string, () => Dialect>;

export type Engine = keyof typeof DIALECTS;

export const SCHEMAS = 'test/store/schemas';
/** Of a table without rows, nothing else needs to be kept. */
const OF_SCHEMA = /^(?:create|alter|drop|comment)\b/i;
const KYSELY = `create table kysely_migration (name varchar(255) primary key, timestamp varchar(255))`;

/** The statements that make this version's schema. */
export async function listStatements(engine: Engine): Promise<string[]> {
  const statements = [KYSELY];
  const log = ({ query }: LogEvent) => {
    if (OF_SCHEMA.test(query.sql.trim())) statements.push(query.sql.trim());
  };
  const db = new Kysely<never>({ dialect: DIALECTS[engine](), log });
  for (const [name, load] of Object.entries(MIGRATIONS)) {
    await (await load()).up(db);
    statements.push(`insert into kysely_migration values ('${name}', '2026-01-01T00:00:00.000Z')`);
  }
  return statements;
}

/** The files of its schema that a release leaves, with their paths. */
export async function listSchemaFiles(version: string): Promise<[path: string, text: string][]> {
  const describe = async (engine: Engine): Promise<[string, string]> => [
    `${SCHEMAS}/${version}-${engine}.sql`,
    toFile(await listStatements(engine)),
  ];
  return Promise.all((Object.keys(DIALECTS) as Engine[]).map(describe));
}

export const toFile = (statements: readonly string[]) => `${statements.join(';\n')};\n`;
