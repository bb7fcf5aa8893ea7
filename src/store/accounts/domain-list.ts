import type { Instant } from '../../domain/instant.ts';
import { ask } from '../connection/plan.ts';
import { prepareColumn } from '../connection/prepared.ts';
import { type JsonText, jsonRow } from '../lists/json.ts';
import type { PagedList } from '../lists/page.ts';
import type { DomainStatus } from '../tables.ts';
import { domainsHead, type PageOfAccount, selectPage } from './domains.ts';

/** A domain as it is listed. */
export interface ListedDomain {
  readonly id: string;
  readonly domain: string;
  readonly status: DomainStatus;
  readonly last_report_at: Instant | null;
}

const domainsFrom = prepareColumn<PageOfAccount, JsonText<ListedDomain>>((db, param) =>
  selectPage(db, param).select(({ ref }) =>
    jsonRow(db, {
      id: ref('id'),
      domain: ref('name'),
      status: ref('status'),
      last_report_at: ref('last_report_at'),
    }).as('item'),
  ),
);

/** An account's active domains, by name. */
export function domainsOf(accountId: string): PagedList<ListedDomain> {
  return {
    head: domainsHead({ accountId }),
    *readItems(page) {
      return yield* ask(domainsFrom({ accountId, ...page }));
    },
  };
}
