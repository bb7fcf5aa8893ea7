import type { components } from '../../../generated/v1.d.ts';
import type { AlertType } from '../../domain/alerts/registry.ts';
import { alertsOf, type ListedAlert } from '../../store/alerts/alert-list.ts';
import type { PagedList } from '../../store/lists/page.ts';
import type { AlertContexts } from './alert-context.ts';
import type { Handler } from './handlers.ts';
import { answerList } from './list.ts';

export const listAlerts: Handler<'listAlerts'> = ({ accountId, query }, { reader }) =>
  answerList(
    reader,
    toAlerts(alertsOf({ accountId, domainId: query.domain_id?.toLowerCase() })),
    query,
  );

/** The store knows that a context is an object; the rule of the alert's type has made it. */
function toAlerts(list: PagedList<ListedAlert>): PagedList<components['schemas']['Alert']> {
  return list as PagedList<Omit<ListedAlert, 'context'> & { context: AlertContexts[AlertType] }>;
}
