import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Mark } from '../../domain/sources/advice.ts';
import type { Actor } from '../accounts/audit.ts';
import type { Db, Tx } from '../connection/database.ts';
import { prepareQuery } from '../connection/prepared.ts';
import type { Reader } from '../connection/reader.ts';
import { wordsOf } from '../connection/words.ts';

/** Marks of a domain: more than people set, and few enough to read with each page. */
const MAX_MARKS = 1_000;

export interface SourceMark {
  readonly mark: Mark;
  readonly markedAt: Instant;
  readonly markedBy: string;
}

interface MarkRow {
  readonly address: string;
  readonly mark: Mark;
  readonly marked_at: Instant;
  readonly marked_by: string;
}

const marksOf = prepareQuery<{ domainId: string }, MarkRow>((db, param) =>
  db
    .selectFrom('source_mark')
    .select(['address', 'mark', 'marked_at', 'marked_by'])
    .where('domain_id', '=', param('domainId'))
    .limit(MAX_MARKS),
);

/** What people have said of a domain's sources, by address. */
export async function readMarks(
  reader: Reader,
  domainId: string,
): Promise<ReadonlyMap<string, SourceMark>> {
  const [rows] = await reader.readTogether(marksOf({ domainId }));
  return new Map(
    rows.map(({ address, mark, marked_at, marked_by }) => [
      address,
      { mark, markedAt: marked_at, markedBy: marked_by },
    ]),
  );
}

interface Marked {
  readonly domainId: string;
  readonly address: string;
  /** null takes the mark away. */
  readonly mark: Mark | null;
}

/**
 * Marks a source of a domain of the actor's account. Throws `not_found` for another account's domain, and
 * `limit_reached` when a domain has too many marks.
 */
export async function updateMark(
  db: Db,
  { domainId, address, mark }: Marked,
  by: Actor & { readonly accountId: string },
): Promise<void> {
  await db.write(async (tx) => {
    const name = await lockOwnDomain(tx, domainId, by.accountId);
    const former = await takeMark(tx, domainId, address);
    if (former === mark) return;
    if (mark !== null) await insertMark(tx, { domainId, address, mark }, by);
    await auditSourceMark(tx, by, { domain: name, address, mark });
  });
}

async function lockOwnDomain(tx: Tx, domainId: string, accountId: string): Promise<string> {
  const domain = await tx
    .selectFrom('domain')
    .select('name')
    .where('id', '=', domainId)
    .where('account_id', '=', accountId)
    .$call(wordsOf(tx).locked)
    .executeTakeFirst();
  if (domain === undefined) throw new Failure('not_found', 'No such domain.');
  return domain.name;
}
