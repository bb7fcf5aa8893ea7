import { Failure } from '../../domain/failure.ts';
import { hashKey, type UploadOutcome } from '../../domain/incoming.ts';
import { listAllDomains } from '../domains/domains.ts';
import type { Db } from '../engine/database.ts';
import { toResult } from './mails.ts';

export type Upload = Awaited<ReturnType<typeof findUpload>>;

/** The key of an upload in the inbox. */
export const toUploadKey = (id: string): string => `upload ${id}`;

/** What became of an upload of the account. Only reports about its own domains have a `domainId`. Throws `not_found`. */
export async function findUpload(db: Db, id: string, accountId: string) {
  const { outcomes, counts, ...row } = await db
    .selectFrom('inbox_mail')
    .select(['state', 'result', 'last_error', 'counts', 'outcomes'])
    .where('key_sha256', '=', hashKey(toUploadKey(id)))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow(() => new Failure('not_found', 'There is no such upload.'));
  const found: readonly UploadOutcome[] = JSON.parse(outcomes ?? '[]');
  const own = found.length === 0 ? [] : await listAllDomains(db, accountId);
  const ids = new Map(own.map((domain) => [domain.name, domain.id]));
  const all = Object.values<number>(JSON.parse(counts ?? '{}')).reduce((sum, n) => sum + n, 0);
  return {
    result: toResult(row),
    documents: found.map((one) => ({ ...one, domainId: ids.get(one.domain ?? '') })),
    /** Documents of which only the number is known. */
    unlisted: Math.max(0, all - found.length),
  };
}
