import { readFile, stat } from 'node:fs/promises';
import type { RedisConfig } from '../config-redis.ts';
import { ConfigError } from '../config-variable.ts';
import { describeSystemError } from '../domain/system-error.ts';

/** A device or a pipe may have no end. */
const MAX_BYTES = 1024 * 1024;

export interface Secrets {
  readonly password: string | undefined;
  readonly ca: string | undefined;
}

/** The password and the certificates, from their files. Throws a ConfigError when a file cannot be read. */
export async function readSecrets({
  password,
  passwordFile,
  caFile,
}: RedisConfig): Promise<Secrets> {
  const fromFile = await readSmall('PLUMBLINE_REDIS_PASSWORD_FILE', passwordFile);
  const ca = await readSmall('PLUMBLINE_REDIS_CA', caFile);
  // Editors end a file with a line break.
  return { password: fromFile?.replace(/\r?\n$/, '') ?? password, ca };
}

async function readSmall(variable: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    const stats = await stat(path);
    if (stats.isFile() && stats.size <= MAX_BYTES) return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${variable}: ${path} cannot be read: ${describeSystemError(error)}.`);
  }
  throw new ConfigError(`${variable}: ${path} is not a file of at most 1 MiB.`);
}
