import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { toBytes, toHex } from '../../domain/hex.ts';
import {
  type DoneResult,
  hashKey,
  type MailResult,
  type MailState,
  parseEnvelope,
} from '../../domain/incoming.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Db, Queries } from '../engine/database.ts';
import type { Tables } from '../tables.ts';

export type ListedMail = Readonly<ReturnType<typeof toListed>>;

type MailRow = Awaited<ReturnType<ReturnType<typeof selectMails>['execute']>>[number];

export interface MailFilter {
  readonly state?: MailState;
  readonly result?: DoneResult;
  readonly since?: Instant;
  readonly limit: number;
}

/** Newest first. */
export async function listMails(db: Queries, filter: MailFilter): Promise<ListedMail[]> {
  const { state, result, since, limit } = filter;
  const rows = await selectMails(db)
    .$if(state !== undefined, (query) => query.where(isInState(state as MailState)))
    .$if(result !== undefined, (query) => query.where('result', '=', result as DoneResult))
    .$if(since !== undefined, (query) => query.where('received_at', '>=', since as Instant))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toListed);
}

/** Throws `not_found`. */
export async function findMail(db: Queries, seq: number): Promise<ListedMail> {
  const mail = selectMails(db).where('seq', '=', seq);
  return toListed(await mail.executeTakeFirstOrThrow(() => noMail(seq)));
}

export function noMail(seq: number): Failure {
  return new Failure('not_found', `There is no mail-${seq} in the inbox.`);
}

function selectMails(db: Queries) {
  return db
    .selectFrom('inbox_mail')
    .select(['seq', 'id', 'door', 'envelope', 'received_at', 'byte_count', 'sha256'])
    .select(['account_id', 'state', 'claimed_by', 'due_at', 'tries', 'last_error'])
    .select(['result', 'counts', 'reason', 'done_at']);
}

const isInState =
  (state: MailState) =>
  (eb: ExpressionBuilder<Tables, 'inbox_mail'>): Expression<SqlBool> => {
    if (state === 'stuck' || state === 'done') return eb('state', '=', state);
    const isClaimed = state === 'claimed' ? 'is not' : 'is';
    return eb.and([eb('state', '=', 'waiting'), eb('claimed_by', isClaimed, null)]);
  };

export function toState({
  state,
  claimed_by,
}: Pick<Tables['inbox_mail'], 'state' | 'claimed_by'>): MailState {
  return state === 'waiting' && claimed_by !== null ? 'claimed' : state;
}

function toListed({ claimed_by, ...row }: MailRow) {
  const counts: Readonly<Record<string, number>> | null = JSON.parse(row.counts ?? 'null');
  return {
    ...row,
    state: toState({ ...row, claimed_by }),
    sha256: toHex(row.sha256),
    envelope: parseEnvelope(row.envelope),
    /** How many documents had each outcome. */
    counts,
  };
}

/** Keys in one statement: every engine limits the number of parameters. */
const KEYS_AT_ONCE = 500;

/** A key that is not in the inbox is not in the result. */
export async function findResults(db: Db, keys: readonly string[]) {
  const found = new Map<string, MailResult>();
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    const byHash = new Map(
      keys.slice(from, from + KEYS_AT_ONCE).map((key) => [toHex(hashKey(key)), key]),
    );
    const rows = await db
      .selectFrom('inbox_mail')
      .select(['key_sha256', 'state', 'result', 'last_error'])
      .where('key_sha256', 'in', [...byHash.keys()].map(toBytes))
      .execute();
    for (const row of rows)
      found.set(byHash.get(toHex(row.key_sha256 as Uint8Array)) ?? '', toResult(row));
  }
  return found;
}

type StoredResult = Pick<Tables['inbox_mail'], 'state' | 'result' | 'last_error'>;

/** A door leaves a mail that was dropped as it leaves one that is not a report. */
export function toResult({ state, result, last_error }: StoredResult): MailResult {
  if (state === 'stuck') return 'stuck';
  if (state !== 'done') return last_error === null ? 'waiting' : 'delayed';
  return result === null || result === 'dropped' ? 'ignored' : result;
}
