import type { OpenSealing, Sealing } from '../../domain/access/sealing.ts';
import { Failure } from '../../domain/failure.ts';
import type { Db } from '../engine/database.ts';

/**
 * Opens the installation's key to encrypt a secret that is stored. The key is read again, and made only while the
 * database has no secret: nothing may be encrypted with one whose file is lost.
 */
export function openToSeal(db: Db, openSealing: OpenSealing): Promise<Sealing> {
  return openSealing({ isFresh: true, mayMake: async () => (await listSealed(db)).length === 0 });
}

/** One secret of each kind, with what it is sealed about. */
async function listSealed(db: Db) {
  const factor = db.selectFrom('second_factor').select(['person_id as id', 'sealed_secret']);
  const webhook = db.selectFrom('webhook').select(['id', 'sealed_secret']);
  return [...(await factor.limit(1).execute()), ...(await webhook.limit(1).execute())];
}

/** Throws a Failure when secrets of the database cannot be read with the key that is there. */
export async function requireKey(db: Db, openSealing: OpenSealing | undefined): Promise<void> {
  const sealed = await listSealed(db);
  if (sealed.length === 0) return;
  try {
    if (openSealing === undefined) throw new Error('it is not set.');
    const { unseal } = await openSealing({ isFresh: true });
    for (const { id, sealed_secret } of sealed) unseal(sealed_secret, id);
  } catch (error) {
    const why = `PLUMBLINE_SECRETS_KEY_FILE does not open the secrets of the database: ${(error as Error).message}`;
    throw new Failure('unavailable', why);
  }
}
