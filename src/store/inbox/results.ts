import type { Db } from '../engine/database.ts';
import { toKeyHash } from './deliver.ts';
import type { MailResult } from './incoming.ts';
import type { InboxMailTable } from './tables.ts';

/** Keys in one statement: every engine limits the number of parameters. */
const KEYS_AT_ONCE = 500;

/** What became of the mails with these keys. A key that is not in the inbox is not in the answer. */
export async function findResults(
  db: Db,
  keys: readonly string[],
): Promise<ReadonlyMap<string, MailResult>> {
  const found = new Map<string, MailResult>();
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    const byHash = new Map(
      keys.slice(from, from + KEYS_AT_ONCE).map((key) => [toKeyHash(key), key]),
    );
    const rows = await db
      .selectFrom('inbox_mail')
      .select(['key_sha256', 'state', 'result'])
      .where('key_sha256', 'in', [...byHash.keys()])
      .execute();
    for (const row of rows) found.set(byHash.get(row.key_sha256 ?? '') ?? '', toResult(row));
  }
  return found;
}

/** A door leaves a mail that was dropped as it leaves one that is not a report. */
function toResult({ state, result }: Pick<InboxMailTable, 'state' | 'result'>): MailResult {
  if (state !== 'done') return state === 'stuck' ? 'stuck' : 'waiting';
  return result === null || result === 'dropped' ? 'ignored' : result;
}
