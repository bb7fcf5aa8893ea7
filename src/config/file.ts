import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { findDatabaseFile } from '../domain/database-address.ts';
import { describeSystemError } from '../domain/system-error.ts';
import { ConfigError } from './variable.ts';

/** Beside package.json. Never the current folder: it may contain untrusted files. */
const BESIDE_PACKAGE = fileURLToPath(new URL('../../.env', import.meta.url));
/** The variables that name a file, by the ends of their names. The database may be no file. */
const OF_FILE = /_(?:FILE|CA|TLS_CERT|TLS_KEY|DATABASE)$/;
/** A device or a pipe may have no end. */
const MAX_BYTES = 1024 * 1024;

/**
 * Adds the settings of the file to the environment, which has precedence: the file of `--config`, else of
 * PLUMBLINE_CONFIG, else the installation's `.env`. Throws a ConfigError when a named file cannot be read.
 */
export function loadConfigFile(env: NodeJS.ProcessEnv, option?: string): void {
  const { settings } = readConfigFile(env, option);
  for (const [name, value] of Object.entries(settings)) env[name] ??= value;
}

/**
 * The settings of the configuration file, with whole paths for the database and other files; and the whole path of a file
 * that is named, and where. undefined for the installation's own.
 */
export function readConfigFile(env: NodeJS.ProcessEnv, option?: string) {
  const path = option ?? (env['PLUMBLINE_CONFIG'] || undefined);
  const by = option === undefined ? ('PLUMBLINE_CONFIG' as const) : ('--config' as const);
  const file = resolve(path ?? BESIDE_PACKAGE);
  const settings = readSettings(file, path && by);
  // A relative path in a configuration file begins at the file, wherever the command is started.
  for (const [name, path] of Object.entries(settings)) {
    const isFile = OF_FILE.test(name.replace(/_\d+$/, ''));
    if (isFile && path !== '' && findDatabaseFile(path) !== undefined)
      settings[name] = resolve(dirname(file), path);
  }
  return { settings, named: path === undefined ? undefined : { file, by } };
}

function readSettings(file: string, namedBy: string | undefined): Record<string, string> {
  try {
    const stats = statSync(file);
    if (!stats.isFile())
      throw new ConfigError(`${namedBy ?? 'Configuration'}: ${file} is not a file.`);
    if (stats.size > MAX_BYTES) throw new ConfigError(`${file} is too large for a configuration.`);
    return parseSettings(readFileSync(file, 'utf8'), file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && namedBy === undefined) return {};
    throw new ConfigError(
      isMissing
        ? `${namedBy}: there is no file ${file}.`
        : `The configuration ${file} cannot be read: ${describeSystemError(error)}.`,
    );
  }
}

/** One setting, comment or blank line. A value in quotes can have several lines. */
const STATEMENT =
  /[ \t]*(?:(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`|[^\s"'`#][^\n]*)?[ \t]*)?(?:#[^\n]*)?(?:\n|$)/y;

/** A quote without an end may seem to end where the quote of a later line begins. */
const QUOTED = /[ \t]*(?:export[ \t]+)?[\w.-]+[ \t]*=[ \t]*["'`]/y;

/** `parseEnv` ignores a line that it does not understand, so that the default would be used, and the first of two equal names. */
function parseSettings(content: string, file: string): Record<string, string> {
  const text = content.replace(/^\ufeff/, '').replaceAll('\r', '');
  const names = new Set<string>();
  for (let at = 0; at < text.length; at = STATEMENT.lastIndex) {
    STATEMENT.lastIndex = at;
    const statement = STATEMENT.exec(text);
    const where = () => `${file}, line ${text.slice(0, at).split('\n').length}`;
    if (statement === null) {
      QUOTED.lastIndex = at;
      const why = QUOTED.test(text)
        ? 'the quote has no end, or more follows it'
        : 'this is not a setting. Write NAME=value';
      throw new ConfigError(`${where()}: ${why}.`);
    }
    const [, name] = statement;
    if (name !== undefined && names.has(name))
      throw new ConfigError(`${where()}: ${name} was set before. Keep one of the two.`);
    if (name !== undefined) names.add(name);
  }
  return parseEnv(text) as Record<string, string>;
}
