import type { Instant } from '../../domain/instant.ts';
import { prepareColumn } from '../engine/prepared.ts';
import { isVersion } from '../lists/heads.ts';
import { type JsonText, jsonRows } from '../lists/json.ts';
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
    (ref) => ({
      id: ref('id'),
      domain: ref('name'),
      status: ref('status'),
      last_report_at: ref('last_report_at'),
    }),
  ),
);

/** An account's active domains, by name. */
export function domainsOf(accountId: string): PagedList<ListedDomain> {
  return {
    head: domainsHead({ accountId }),
    items: ({ skip, limit, version }) => domainsFrom({ accountId, limit, offset: skip, version }),
  };
}
