import type { Day } from '../../domain/instant.ts';
import type { View } from '../../domain/reports/authentication.ts';
import { dataDaysOf, planState } from '../days/believed.ts';
import { findDocumentNames } from '../documents/document-rows.ts';
import type { Db, Queries } from '../engine/database.ts';
import { type Param, prepareQuery, type RowOfQuery } from '../engine/prepared.ts';
import { ask, type Reader } from '../engine/reader.ts';
import type { DomainOfAccount } from '../lists/heads.ts';
import { isOfDomain } from '../lists/heads.ts';

/** The first and the last day that a domain's reports that count begin on; null when there are none. */
export type DataDays = Readonly<RowOfQuery<typeof dataDays>>;

const dataDays = prepareQuery((db, param: Param<DomainOfAccount & { view: View }>) =>
  db
    .selectFrom('domain')
    .select(dataDaysOf(db, param('view')))
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

/** Both are null too when the account has no such domain. */
export async function findDataDays(
  reader: Reader,
  scope: DomainOfAccount,
  today: Day,
): Promise<DataDays> {
  const { domainId } = scope;
  const [days] = await reader.readPlan(function* () {
    const { reporters: view } = yield* planState({ domainId, today });
    return yield* ask(dataDays({ ...scope, view }));
  });
  return days ?? { oldest: null, newest: null };
}

/** The unclaimed domains with the most reports. `total` counts all. */
export async function listUnclaimed(db: Db, { limit }: { limit: number }) {
  const unclaimed = db.selectFrom('domain').where('account_id', 'is', null);
  const { total } = await unclaimed
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const domains = await unclaimed
    .select(['name', 'reports_total as reports', 'tls_total as tlsReports'])
    .select('last_report_at as lastReportAt')
    .orderBy((eb) => eb('reports_total', '+', eb.ref('tls_total')), 'desc')
    .orderBy('name')
    .limit(limit)
    .execute();
  return { total, domains };
}

export async function isUnclaimed(db: Db, name: string): Promise<boolean> {
  const domain = db.selectFrom('domain').select('account_id').where('name', '=', name);
  return (await domain.executeTakeFirst())?.account_id === null;
}

export type LastArrival = NonNullable<Awaited<ReturnType<typeof findLastArrival>>>;

/** undefined when no account has the domain and no report came in for it. */
export async function findLastArrival(db: Queries, name: string) {
  const named = db.selectFrom('domain').select(['id', 'account_id']).where('name', '=', name);
  const domain = await named.executeTakeFirst();
  if (domain === undefined) return undefined;
  const last = await db
    .selectFrom('report')
    .select(['received_at', 'document_seq'])
    .where(isOfDomain(domain.id))
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  const { id: domainId, account_id: accountId } = domain;
  if (last === undefined) return { domainId, accountId, receivedAt: null, input: null };
  // The name of a mail or a file.
  const { input } = (await findDocumentNames(db, [last.document_seq]))(last.document_seq);
  return { domainId, accountId, receivedAt: last.received_at, input };
}
