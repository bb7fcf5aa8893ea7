import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isPostgresUrl, listHosts } from '../domain/database-address.ts';
import type { Environment } from './environment.ts';
import { createPasswordReader } from './secret-file.ts';
import { anyText, parsed, whole } from './variable.ts';

const NAME = 'plumbline.db';
const URL_RULE =
  'must be a URL like postgres://user@db.example.com:5432/plumbline?sslmode=verify-full';

const VARIABLES = {
  // A path, or a URL. A URL of another kind is a mistake.
  database: parsed(
    'PLUMBLINE_DATABASE',
    (value) => (/^[a-z][\w+.-]*:\/\//i.test(value) ? parsePostgresUrl(value) : value),
    URL_RULE,
  ),
  replica: parsed('PLUMBLINE_DATABASE_READ', parsePostgresUrl, URL_RULE),
  password: anyText('PLUMBLINE_DATABASE_PASSWORD', undefined),
  passwordFile: anyText('PLUMBLINE_DATABASE_PASSWORD_FILE', undefined),
  maxConnections: whole('PLUMBLINE_DATABASE_CONNECTIONS', 10, { min: 2, max: 1_000 }),
  minFreeMb: whole('PLUMBLINE_MIN_FREE_MB', 200, { min: 0, max: 1_000_000 }),
};

export function readDatabase(environment: Environment) {
  const { database, password, passwordFile, minFreeMb, ...values } = environment.read(VARIABLES);
  environment.refuse(
    values.replica !== undefined && !isPostgresUrl(database ?? ''),
    'PLUMBLINE_DATABASE_READ: is only for a PostgreSQL database',
  );
  environment.refuse(
    password !== undefined && passwordFile !== undefined,
    'PLUMBLINE_DATABASE_PASSWORD: is set, and so is …_PASSWORD_FILE: use one',
  );
  const databaseOptions = {
    ...values,
    /** The password when the URL has none, asked for at each new connection. */
    password: createPasswordReader('PLUMBLINE_DATABASE_PASSWORD_FILE', password, passwordFile),
    /** The free space of SQLite's disk below which nothing is taken in from outside; 0 for none. */
    minFreeBytes: minFreeMb * 1024 * 1024,
  };
  return { database, databaseOptions };
}

function parsePostgresUrl(value: string): string | undefined {
  return isPostgresUrl(value) && listHosts(value).every((url) => URL.canParse(url))
    ? value
    : undefined;
}

/**
 * The database when none is configured, in any current folder: in a checkout (Node runs the TypeScript) in `data`;
 * for an installed package in the user's data folder (XDG), because an upgrade replaces the package's own.
 */
export function findDefaultDatabase(env: NodeJS.ProcessEnv, module = import.meta.url): string {
  if (module.endsWith('.ts')) return fileURLToPath(new URL(`../../data/${NAME}`, module));
  return join(findDataHome(env), 'plumbline', NAME);
}

/** A relative XDG_DATA_HOME is ignored (XDG Base Directory Specification: paths must be absolute). */
function findDataHome(env: NodeJS.ProcessEnv): string {
  const folder = process.platform === 'win32' ? env['LOCALAPPDATA'] : env['XDG_DATA_HOME'];
  return folder !== undefined && isAbsolute(folder) ? folder : join(homedir(), '.local', 'share');
}
