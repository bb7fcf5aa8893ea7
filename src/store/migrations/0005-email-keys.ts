import type { Kysely } from 'kysely';
import { toEmailKey } from '../../domain/access/person.ts';

/** The columns that exist when this runs. */
interface PersonTable {
  readonly person: {
    readonly id: string;
    readonly email: string;
    email_key: string;
    readonly created_at: string;
  };
}

/**
 * Makes every `email_key` again from `email`, because its form has changed. Of two people whose addresses
 * have the same new form, the one who was added first keeps the address. The other one gets a key that is not
 * an address, and cannot sign in by e-mail address until the operator adds them with another one.
 */
export async function up(given: Kysely<never>): Promise<void> {
  const db = given as unknown as Kysely<PersonTable>;
  const people = await db
    .selectFrom('person')
    .select(['id', 'email'])
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  // All keys are first replaced by unique ones, because a new key may be another person's old one.
  for (const { id } of people) await updateKey(db, id, toNoKey(id));
  const taken = new Set<string>();
  for (const { id, email } of people) {
    const key = toEmailKey(email);
    if (!taken.has(key)) await updateKey(db, id, key);
    taken.add(key);
  }
}

/** Without an @, so that it is not an address. */
function toNoKey(id: string): string {
  return `duplicate of another person: ${id}`;
}

async function updateKey(db: Kysely<PersonTable>, id: string, key: string): Promise<void> {
  await db.updateTable('person').set({ email_key: key }).where('id', '=', id).execute();
}
