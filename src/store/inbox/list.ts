import { Failure } from '../../domain/failure.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Queries } from '../engine/database.ts';
import { parseEnvelope } from './envelope.ts';
import type { Envelope } from './incoming.ts';
import type { DoneResult, MailState } from './tables.ts';

/** A mail of the inbox as operators see it. */
export interface ListedMail {
  readonly seq: number;
  /** That of its parts. */
  readonly id: string;
  readonly door: string;
  readonly envelope: Envelope;
  readonly received_at: Instant;
  readonly byte_count: number;
  readonly sha256: string;
  readonly account_id: string | null;
  readonly state: MailState;
  readonly due_at: Instant | null;
  readonly tries: number;
  readonly last_error: string | null;
  readonly result: DoneResult | null;
  readonly counts: Readonly<Record<string, number>> | null;
  readonly reason: string | null;
  readonly done_at: Instant | null;
}

export interface MailFilter {
  readonly state?: MailState;
  readonly result?: DoneResult;
  readonly since?: Instant;
  readonly limit: number;
}

/** The latest mails that match, newest first. */
export async function listMails(db: Queries, filter: MailFilter): Promise<ListedMail[]> {
  const { state, result, since, limit } = filter;
  const rows = await selectMails(db)
    .$if(state !== undefined, (query) => query.where('state', '=', state as MailState))
    .$if(result !== undefined, (query) => query.where('result', '=', result as DoneResult))
    .$if(since !== undefined, (query) => query.where('received_at', '>=', since as Instant))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toListed);
}

/** Throws `not_found`. */
export async function findMail(db: Queries, seq: number): Promise<ListedMail> {
  const row = await selectMails(db).where('seq', '=', seq).executeTakeFirst();
  if (row === undefined) throw new Failure('not_found', `There is no mail-${seq} in the inbox.`);
  return toListed(row);
}

function selectMails(db: Queries) {
  return db
    .selectFrom('inbox_mail')
    .select(['seq', 'id', 'door', 'envelope', 'received_at', 'byte_count', 'sha256'])
    .select(['account_id', 'state', 'due_at', 'tries', 'last_error'])
    .select(['result', 'counts', 'reason', 'done_at']);
}

type MailRow = Awaited<ReturnType<ReturnType<typeof selectMails>['execute']>>[number];

function toListed(row: MailRow): ListedMail {
  return {
    ...row,
    envelope: parseEnvelope(row.envelope),
    byte_count: Number(row.byte_count),
    counts: row.counts === null ? null : JSON.parse(row.counts),
  };
}
