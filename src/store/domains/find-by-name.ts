import { toEmailKey } from '../../domain/access/person.ts';
import { parseDomainName } from '../../domain/domain-name.ts';
import { Failure } from '../../domain/failure.ts';
import { isUuid } from '../../domain/uuid.ts';
import type { Db } from '../engine/database.ts';
import type { DomainRow } from './domains.ts';

/* What operators type for a row: its id, or the name that people know it by. */

/** A name becomes an id that no row has. */
function toId(idOrName: string): string {
  return isUuid(idOrName) ? idOrName.toLowerCase() : '00000000-0000-0000-0000-000000000000';
}

/** The id of the account with this id or name. Throws `not_found`, or `conflict` when several have the name. */
export async function findAccountId(db: Db, idOrName: string): Promise<string> {
  const accounts = await db
    .selectFrom('account')
    .select('id')
    .where(({ or }) => or({ id: toId(idOrName), name: idOrName }))
    .orderBy('created_at')
    .execute();
  const ids = accounts.map(({ id }) => id);
  const [id, ...others] = ids;
  if (ids.includes(idOrName.toLowerCase())) return idOrName.toLowerCase();
  if (id === undefined)
    throw new Failure('not_found', `No account has the id or the name “${idOrName}”.`);
  if (others.length > 0)
    throw new Failure(
      'conflict',
      `“${idOrName}” is the name of ${ids.length} accounts: use one of their ids, ${ids.join(', ')}.`,
    );
  return id;
}

/** The domain with this id or name, when it has an account. Throws `not_found`. */
export async function findNamedDomain(db: Db, idOrName: string): Promise<DomainRow> {
  // Commands that name an account load nothing of domains and their lists.
  const { DOMAIN_COLUMNS } = await import('./domains.ts');
  const name = parseDomainName(idOrName) ?? idOrName;
  const message = `No domain of an account has the id or the name “${idOrName}”.`;
  return await db
    .selectFrom('domain')
    .select(DOMAIN_COLUMNS)
    .where('account_id', 'is not', null)
    .where(({ or }) => or({ id: toId(idOrName), name }))
    .executeTakeFirstOrThrow(() => new Failure('not_found', message));
}

/** The id of the person with this id or e-mail address. Throws `not_found`. */
export async function findPersonId(db: Db, idOrEmail: string): Promise<string> {
  const message = `Nobody has the id or the e-mail address “${idOrEmail}”.`;
  const person = await db
    .selectFrom('person')
    .select('id')
    .where(({ or }) => or({ id: toId(idOrEmail), email_key: toEmailKey(idOrEmail) }))
    .executeTakeFirstOrThrow(() => new Failure('not_found', message));
  return person.id;
}
