import { isPostgresUrl } from '../domain/database-address.ts';
import { readPasswordFile } from './secret-file.ts';
import { text, type ValuesOf, type Variable, whole } from './variable.ts';

/* What concerns a PostgreSQL database, besides its URL. */

const URL_RULE =
  'must be a URL like postgres://user@db.example.com:5432/plumbline?sslmode=verify-full';

/** The path of a SQLite database, or the URL of a PostgreSQL database. A URL of another kind is a mistake. */
const database: Variable<string | undefined> = {
  parse: (given) => (/^[a-z][\w+.-]*:\/\//i.test(given) ? parseUrl(given) : given),
  rule: URL_RULE,
  fallback: undefined,
};

const replica: Variable<string | undefined> = {
  parse: parseUrl,
  rule: URL_RULE,
  fallback: undefined,
};

function parseUrl(given: string): string | undefined {
  return isPostgresUrl(given) && URL.canParse(given) ? given : undefined;
}

export const DATABASE_VARIABLES = {
  PLUMBLINE_DATABASE: database,
  PLUMBLINE_DATABASE_READ: replica,
  PLUMBLINE_DATABASE_PASSWORD: text(undefined),
  PLUMBLINE_DATABASE_PASSWORD_FILE: text(undefined),
  PLUMBLINE_DATABASE_CONNECTIONS: whole(10, { min: 2, max: 1_000 }),
};

type Values = ValuesOf<typeof DATABASE_VARIABLES>;

/** How a process connects to a PostgreSQL database. */
export interface DatabaseOptions {
  readonly replica: string | undefined;
  /** The password when the URL has none, asked for at each new connection. */
  readonly password: (() => string) | undefined;
  readonly maxConnections: number;
}

export function toDatabaseOptions(values: Values): DatabaseOptions {
  return {
    replica: values.PLUMBLINE_DATABASE_READ,
    password: toPassword(values),
    maxConnections: values.PLUMBLINE_DATABASE_CONNECTIONS,
  };
}

/** A file is read again for each connection, so that a new password needs no restart. */
function toPassword({
  PLUMBLINE_DATABASE_PASSWORD: password,
  PLUMBLINE_DATABASE_PASSWORD_FILE: file,
}: Values): (() => string) | undefined {
  if (file !== undefined) return () => readPasswordFile('PLUMBLINE_DATABASE_PASSWORD_FILE', file);
  return password === undefined ? undefined : () => password;
}

/** A line for each variable that has no effect on the configured database. */
export function listUnused(values: Values): string[] {
  const problems: string[] = [];
  const { PLUMBLINE_DATABASE: database, PLUMBLINE_DATABASE_READ: replica } = values;
  if (replica !== undefined && !isPostgresUrl(database ?? ''))
    problems.push('PLUMBLINE_DATABASE_READ: is only for a PostgreSQL database');
  if (values.PLUMBLINE_DATABASE_PASSWORD && values.PLUMBLINE_DATABASE_PASSWORD_FILE)
    problems.push('PLUMBLINE_DATABASE_PASSWORD: is set, and so is …_PASSWORD_FILE: use one');
  return problems;
}
