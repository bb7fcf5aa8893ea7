import { randomBytes, randomUUID } from 'node:crypto';
import { link, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  createSealing,
  type OpenSealing,
  SEALING_KEY_BYTES,
  type Sealing,
} from '../domain/access/sealing.ts';
import { findDatabaseFile } from '../domain/database-address.ts';
import { readSecretFile } from './secret-file.ts';
import { ConfigError } from './variable.ts';

/* The key that encrypts secrets in the database. It is in a file, so that a copy of the database alone has none. */

type SecretsKeyFile = NonNullable<ReturnType<typeof findSecretsKeyFile>>;

/**
 * The configured file, else one beside a SQLite database, which the process makes that encrypts the first secret (`isMade`).
 * PostgreSQL has none: several machines need one key.
 */
export function findSecretsKeyFile(configured: string | undefined, database: string) {
  if (configured !== undefined) return { path: configured, isMade: false };
  const file = findDatabaseFile(database);
  return file === undefined ? undefined : { path: `${file}.key`, isMade: true };
}

/** Reads the key at first use. Throws a ConfigError at once for a configured file without a valid key. */
export function createSealings(file: SecretsKeyFile): OpenSealing {
  const variable = 'PLUMBLINE_SECRETS_KEY_FILE';
  if (!file.isMade) parseKey(readSecretFile(variable, file.path), `${variable}: ${file.path}`);
  let known: Sealing | undefined;
  return async ({ isFresh = false, mayMake } = {}) => {
    if (known === undefined || isFresh)
      known = createSealing(await readKey(file, mayMake), 'second factor');
    return known;
  };
}

async function readKey(
  { path, isMade }: SecretsKeyFile,
  mayMake?: () => Promise<boolean>,
): Promise<Buffer> {
  try {
    return parseKey(await readFile(path, 'utf8'), path);
  } catch (error) {
    if (!isMade || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  if (mayMake === undefined || !(await mayMake()))
    throw new Error(`${path} is missing, and the database has secrets that need its key.`);
  await makeKey(path);
  return parseKey(await readFile(path, 'utf8'), path);
}

function parseKey(text: string, name: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length === SEALING_KEY_BYTES) return key;
  throw new ConfigError(`${name} does not have ${SEALING_KEY_BYTES} bytes in Base64.`);
}

/**
 * Two processes may do so at the same time: `link` makes a whole file, and only when there is none. The key is on
 * the disk before anything is encrypted with it.
 */
async function makeKey(path: string): Promise<void> {
  const own = `${path}.${randomUUID()}`;
  try {
    const key = `${randomBytes(SEALING_KEY_BYTES).toString('base64')}\n`;
    await writeFile(own, key, { flag: 'wx', mode: 0o600, flush: true });
    await link(own, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(own, { force: true });
  }
  await syncFolder(dirname(path));
}

/** Windows cannot open a folder. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
