import type { OpenSealing, Sealing } from '../../domain/access/sealing.ts';
import type { Db } from '../engine/database.ts';

/**
 * Opens the installation's key to encrypt a secret that is stored. The key is read again, and made only while the
 * database has no secret: nothing may be encrypted with one whose file is lost.
 */
export function openToSeal(db: Db, openSealing: OpenSealing): Promise<Sealing> {
  return openSealing({ isFresh: true, mayMake: async () => !(await hasSecrets(db)) });
}

async function hasSecrets(db: Db): Promise<boolean> {
  const factor = db.selectFrom('second_factor').select('person_id as id').limit(1);
  const webhook = db.selectFrom('webhook').select('id').limit(1);
  return [await factor.executeTakeFirst(), await webhook.executeTakeFirst()].some(Boolean);
}
