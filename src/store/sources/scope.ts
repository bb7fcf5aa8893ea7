import { Failure } from '../../domain/failure.ts';
import { prepareQuery } from '../engine/prepared.ts';
import { ask, type Plan } from '../engine/reader.ts';

export type DomainScope = { readonly accountId: string; readonly domainId: string };

const domainOfAccount = prepareQuery<DomainScope, { id: string }>((db, param) =>
  db
    .selectFrom('domain')
    .select('id')
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

/** Throws `not_found` when the account has no such domain. */
export function* requireDomain({ accountId, domainId }: DomainScope): Plan<void> {
  const [domain] = yield* ask(domainOfAccount({ accountId, domainId }));
  if (domain === undefined) throw new Failure('not_found', 'No such domain.');
}
