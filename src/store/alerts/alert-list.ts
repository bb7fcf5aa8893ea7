import type { Instant } from '../../domain/instant.ts';
import { ask } from '../connection/plan.ts';
import { type BoundQuery, prepareColumn, prepareQuery } from '../connection/prepared.ts';
import type { Head } from '../lists/heads.ts';
import { asJson, type JsonText, jsonRow } from '../lists/json.ts';
import type { PagedList } from '../lists/page.ts';
import { findPlace, type Place } from '../lists/places.ts';
import { alertList } from '../lists/timeline.ts';

/** An alert as it is listed. */
export interface ListedAlert {
  readonly id: string;
  readonly domain_id: string;
  readonly type: string;
  readonly fired_at: Instant;
  readonly resolved_at: Instant | null;
  readonly context: Readonly<Record<string, unknown>>;
}

/** The owner of the alerts: an account or one of its domains. */
export interface AlertScope {
  readonly accountId: string;
  readonly domainId: string | undefined;
}

const accountHead = prepareQuery<{ accountId: string }, Head>((db, param) =>
  db
    .selectFrom('account')
    .select(['alerts_total as total', 'alerts_version as version'])
    .where('id', '=', param('accountId')),
);

const domainHead = prepareQuery<{ accountId: string; domainId: string }, Head>((db, param) =>
  db
    .selectFrom('domain')
    .select(['alerts_total as total', 'alerts_version as version'])
    .where('id', '=', param('domainId'))
    .where('account_id', '=', param('accountId')),
);

const OWNERS = { account: alertsFrom('account_id'), domain: alertsFrom('domain_id') } as const;

/**
 * Alerts, latest fired first, then latest created. The list does not exist when the account has no such
 * domain, whether or not another account has it.
 */
export function alertsOf(scope: AlertScope): PagedList<ListedAlert> {
  const owner = scope.domainId ?? scope.accountId;
  const alertsOfOwner = OWNERS[scope.domainId === undefined ? 'account' : 'domain'];
  return {
    head: headOf(scope),
    *readItems({ limit, offset }, { version }) {
      const place = yield* findPlace({ id: alertList(owner), version }, offset);
      return yield* ask(alertsOfOwner({ owner, limit, ...place }));
    },
  };
}

function headOf({ accountId, domainId }: AlertScope): BoundQuery<Head> {
  return domainId === undefined ? accountHead({ accountId }) : domainHead({ accountId, domainId });
}

function alertsFrom(owner: 'account_id' | 'domain_id') {
  type Wanted = { owner: string; limit: number } & Place;
  return prepareColumn<Wanted, JsonText<ListedAlert>>((db, param) =>
    db
      .selectFrom('alert')
      .select(({ ref }) =>
        jsonRow({
          id: ref('id'),
          domain_id: ref('domain_id'),
          type: ref('type'),
          fired_at: ref('fired_at'),
          resolved_at: ref('resolved_at'),
          context: asJson<ListedAlert['context']>(ref('context')),
        }).as('item'),
      )
      .where(owner, '=', param('owner'))
      .where('fired_at', '<=', param('until'))
      .orderBy('fired_at', 'desc')
      .orderBy('seq', 'desc')
      .limit(param('limit'))
      .offset(param('skip')),
  );
}
