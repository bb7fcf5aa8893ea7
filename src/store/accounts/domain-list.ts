import type { ExpressionBuilder, Kysely } from 'kysely';
import { dialectOf } from '../engine/dialect.ts';
import { prepareColumn } from '../engine/prepared.ts';
import { isVersion } from '../lists/heads.ts';
import { type JsonText, jsonRows, type RowOf } from '../lists/json.ts';
import type { PagedList } from '../lists/page.ts';
import type { Tables } from '../tables.ts';
import { domainsHead, type PageOfAccount, selectPage } from './domains.ts';

export type ListedDomain = RowOf<ReturnType<ReturnType<typeof fieldsOf>>>;

type WantedDomains = PageOfAccount & { version: string };

const domainsFrom = prepareColumn<WantedDomains, JsonText<ListedDomain>>((db, param) =>
  jsonRows(
    db,
    selectPage(db, param).where(
      isVersion('account', 'domains_version', {
        id: param('accountId'),
        version: param('version'),
      }),
    ),
    fieldsOf(db),
  ),
);

function fieldsOf(db: Kysely<Tables>) {
  const { asInstant } = dialectOf(db);
  return (ref: ExpressionBuilder<Tables, 'domain'>['ref']) => ({
    id: ref('id'),
    domain: ref('name'),
    status: ref('status'),
    last_report_at: asInstant(ref('last_report_at')),
  });
}

/** An account's active domains, by name. */
export function domainsOf(accountId: string): PagedList<ListedDomain> {
  return {
    head: domainsHead({ accountId }),
    items: ({ skip, limit, version }) => domainsFrom({ accountId, limit, offset: skip, version }),
  };
}
