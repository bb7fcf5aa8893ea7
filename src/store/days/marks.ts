import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Mark } from '../../domain/sources/source.ts';
import type { Db, Tx } from '../engine/database.ts';
import { dialectOf } from '../engine/dialect.ts';
import { type Param, prepareQuery } from '../engine/prepared.ts';
import type { Reader } from '../engine/reader.ts';
import { type Actor, insertAudit } from '../events/audit.ts';
import { touchDays } from '../lists/heads.ts';

/** How many marks a domain can have: more than people set, and few enough to read all of them with each page. */
const MAX_MARKS = 1_000;

export interface SourceMark {
  readonly mark: Mark;
  readonly markedAt: Instant;
  readonly markedBy: string;
}

const marksOf = prepareQuery((db, param: Param<{ domainId: string }>) =>
  db
    .selectFrom('source_mark')
    .select(['subject', 'mark', 'marked_at', 'marked_by'])
    .where('domain_id', '=', param('domainId'))
    .orderBy('subject')
    .limit(MAX_MARKS),
);

/** Marks by their subject: an address, or the key of a sender (domain/sources/mark-subject.ts). */
export type Marks = ReadonlyMap<string, SourceMark>;

export async function readMarks(reader: Reader, domainId: string): Promise<Marks> {
  const rows = await reader.readAll(marksOf({ domainId }));
  return new Map(
    rows.map(({ subject, mark, marked_at, marked_by }) => [
      subject,
      { mark, markedAt: marked_at, markedBy: marked_by },
    ]),
  );
}

interface MarkChange {
  readonly domainId: string;
  readonly subject: string;
  /** null removes the mark. */
  readonly mark: Mark | null;
}

/** Throws `not_found` for another account's domain, and `limit_reached` when a domain has too many marks. */
export async function updateMark(
  db: Db,
  { domainId, subject, mark }: MarkChange,
  by: Actor & { readonly accountId: string },
) {
  await db.write(async (tx) => {
    const name = await lockOwnDomain(tx, domainId, by.accountId);
    const marks = await tx
      .selectFrom('source_mark')
      .select(['subject', 'mark'])
      .where('domain_id', '=', domainId)
      .execute();
    const former = marks.find((one) => one.subject === subject)?.mark ?? null;
    if (former === mark) return;
    if (former === null && marks.length >= MAX_MARKS)
      throw new Failure(
        'limit_reached',
        `A domain can have ${MAX_MARKS} marks. Take others away first.`,
      );
    const old = tx.deleteFrom('source_mark').where('domain_id', '=', domainId);
    await old.where('subject', '=', subject).execute();
    const row = { domain_id: domainId, subject, marked_at: by.at, marked_by: by.name };
    const marked = tx.insertInto('source_mark');
    if (mark !== null) await marked.values({ ...row, mark }).execute();
    await touchDays(tx, domainId);
    await insertAudit(tx, by, {
      accountId: by.accountId,
      action: 'source_marked',
      subject,
      detail: `${mark ?? 'no mark'}, ${name}`,
    });
  });
}

/** Returns its name. Nobody else changes what people have said of the domain while it is locked. */
export async function lockOwnDomain(tx: Tx, domainId: string, accountId: string): Promise<string> {
  const domain = await tx
    .selectFrom('domain')
    .select('name')
    .where('id', '=', domainId)
    .where('account_id', '=', accountId)
    .$call(dialectOf(tx).locked)
    .executeTakeFirstOrThrow(() => new Failure('not_found', 'No such domain.'));
  return domain.name;
}
