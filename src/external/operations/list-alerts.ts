import type { components } from '../../../generated/v1.d.ts';
import type { AlertType } from '../../domain/alerts/registry.ts';
import { alertsOf, followAlerts, type ListedAlert } from '../../store/alerts/alert-list.ts';
import type { FollowedList } from '../../store/lists/followed.ts';
import type { PagedList } from '../../store/lists/page.ts';
import type { AlertContexts } from './alert-context.ts';
import { answerFollowed } from './follow.ts';
import type { Handler } from './handlers.ts';
import { answerList } from './list.ts';

export const listAlerts: Handler<'listAlerts'> = ({ accountId, query }, { reader }) => {
  const scope = { accountId, domainId: query.domain_id?.toLowerCase() };
  const { changed_after: cursor, ...page } = query;
  if (cursor === undefined) return answerList(reader, toAlerts(alertsOf(scope)), page);
  const start = { name: 'changed_after', cursor };
  return answerFollowed(reader, toFollowedAlerts(followAlerts(scope)), { start, query: page });
};

/** The store knows that a context is an object; the rule of the alert's type has made it. */
function toAlerts(list: PagedList<ListedAlert>): PagedList<components['schemas']['Alert']> {
  return list as PagedList<ServedAlert>;
}

function toFollowedAlerts(
  list: FollowedList<ListedAlert>,
): FollowedList<components['schemas']['Alert']> {
  return list as FollowedList<ServedAlert>;
}

type ServedAlert = Omit<ListedAlert, 'context'> & { context: AlertContexts[AlertType] };
