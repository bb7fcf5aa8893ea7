import { randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { createSealing, SEALING_KEY_BYTES, type Sealing } from './domain/access/sealing.ts';
import { isPostgresUrl } from './store/connection/postgres/address.ts';

/* The key that encrypts secrets in the database. It is in a file, so that a copy of the database alone has none. */

/** Where the key is. */
export interface SecretsKeyFile {
  readonly path: string;
  /** Whether the first process that needs the key makes the file. */
  readonly isMade: boolean;
}

/**
 * The configured file, else one beside a SQLite database. For PostgreSQL there is none: several machines need the
 * same key, which none of them may make.
 */
export function findSecretsKeyFile(
  configured: string | undefined,
  database: string,
): SecretsKeyFile | undefined {
  if (configured !== undefined) return { path: configured, isMade: false };
  const hasPath = database !== ':memory:' && !isPostgresUrl(database);
  return hasPath ? { path: `${database}.key`, isMade: true } : undefined;
}

/** Reads the key when it is first needed, and again after a failure. */
export function createSealings({ path, isMade }: SecretsKeyFile): () => Promise<Sealing> {
  let known: Promise<Sealing> | undefined;
  const open = async () => createSealing(await readKey(path, isMade), 'second factor');
  return () => {
    known ??= open().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
}

async function readKey(path: string, isMade: boolean): Promise<Buffer> {
  try {
    return parseKey(await readFile(path, 'utf8'), path);
  } catch (error) {
    if (!isMade || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await makeKey(path);
  return parseKey(await readFile(path, 'utf8'), path);
}

function parseKey(text: string, path: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== SEALING_KEY_BYTES)
    throw new Error(`${path} does not have ${SEALING_KEY_BYTES} bytes in Base64.`);
  return key;
}

/** Two processes may do so at the same time: `link` makes a whole file, and only when there is none. */
async function makeKey(path: string): Promise<void> {
  const own = `${path}.${randomUUID()}`;
  const text = `${randomBytes(SEALING_KEY_BYTES).toString('base64')}\n`;
  await writeFile(own, text, { mode: 0o600, flag: 'wx' });
  try {
    await link(own, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(own);
  }
}
