import type { Instant } from '../../domain/instant.ts';
import type { Queries } from '../engine/database.ts';
import { findInputNames } from '../inputs/inputs.ts';

/** The last report that came in for a domain. */
export interface LastArrival {
  readonly accountId: string | null;
  readonly receivedAt: Instant | null;
  /** What it came in: the name of a mail or a file. */
  readonly input: string | null;
}

/** undefined when the domain is not known: no account has it, and no report came in for it. */
export async function findLastArrival(db: Queries, name: string): Promise<LastArrival | undefined> {
  const domain = await db
    .selectFrom('domain')
    .select(['id', 'account_id', 'reports_position'])
    .where('name', '=', name)
    .executeTakeFirst();
  if (domain === undefined) return undefined;
  const last = await db
    .selectFrom('report')
    .select(['received_at', 'source_seq'])
    .where('domain_id', '=', domain.id)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  const { account_id: accountId } = domain;
  if (last === undefined) return { accountId, receivedAt: null, input: null };
  const toInputName = await findInputNames(db, [last.source_seq]);
  return { accountId, receivedAt: last.received_at, input: toInputName(last.source_seq) };
}
