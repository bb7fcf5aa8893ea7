import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { describeSystemError } from '../domain/system-error.ts';
import { ConfigError } from './variable.ts';

/** A device or a pipe may have no end. */
const MAX_BYTES = 1024 * 1024;

/** The text of the file that a variable names. Throws a ConfigError when it cannot be read. */
export function readSecretFile(variable: string, path: string): string {
  try {
    const stats = statSync(path);
    if (stats.isFile() && stats.size <= MAX_BYTES) return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${variable}: ${path} cannot be read: ${describeSystemError(error)}.`);
  }
  throw new ConfigError(`${variable}: ${path} is not a file of at most 1 MiB.`);
}

const NAMES = /^PLUMBLINE_(?:(SMTP|IMAP|MAIL)_)?.*(?:_FILE|_CA|TLS_CERT|TLS_KEY)(?:_\d+)?$/;

/**
 * Reads the file of each variable that names one, which a process that serves would read later. Throws a ConfigError for the
 * first that cannot be read. Those of doors and of the mail server are for jobs.
 */
export function requireFiles(env: NodeJS.ProcessEnv, { hasJobs }: { hasJobs: boolean }): void {
  for (const [name, path] of Object.entries(env)) {
    const [known, ofJobs] = NAMES.exec(name) ?? [];
    if (path && known && (hasJobs || !ofJobs)) readSecretFile(name, path);
  }
}

/** The password in the file that a variable names. Editors end a file with a line break. */
export function readPasswordFile(variable: string, path: string): string {
  return readSecretFile(variable, path).replace(/\r?\n$/, '');
}

/** The certificates of an authority in PEM. Throws a ConfigError also when the first is none. */
export function readAuthority(variable: string, path: string): string {
  const pem = readSecretFile(variable, path);
  try {
    new X509Certificate(pem);
    return pem;
  } catch {
    throw new ConfigError(`${variable}: ${path} is no certificate in PEM.`);
  }
}

/** A file is read again for each connection, so that a new password needs no restart. */
export function createPasswordReader(
  variable: string,
  password?: string,
  file?: string,
): (() => string) | undefined {
  if (file !== undefined) return () => readPasswordFile(variable, file);
  return password === undefined ? undefined : () => password;
}
