import type { components } from '../../generated/v1.d.ts';
import type { AlertType } from '../domain/alerts/registry.ts';
import { alertsOf, type ListedAlert } from '../store/alerts/alert-list.ts';
import type { FollowedList } from '../store/lists/followed.ts';
import { toWholeSecond } from './filters.ts';
import type { Handler } from './operation.ts';

export const listAlerts = (({ accountId, query }) => {
  const { domain_id: domainId, type, state, changed_after: cursor, ...others } = query;
  const { fired_from, fired_until, ...page } = others;
  const from = toWholeSecond('fired_from', fired_from);
  const until = toWholeSecond('fired_until', fired_until);
  const filter = { type, state, from, until };
  const list = alertsOf({ accountId, domainId, ...filter }) as FollowedList<ServedAlert>;
  if (cursor === undefined) return { list, page };
  return { list: { followed: list, parameter: 'changed_after', cursor }, page };
}) satisfies Handler<'listAlerts'>;

/** The store knows that a context is an object; the rule of the alert's type has made it. */
type ServedAlert = Omit<ListedAlert, 'context'> & { context: AlertContexts[AlertType] };

/** The context of an alert of each type. */
type AlertContexts = Required<components['schemas']['AlertContextByType']>;
