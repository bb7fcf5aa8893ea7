import type { components } from '../../../generated/v1.d.ts';
import type { AlertType } from '../../domain/alerts/registry.ts';
import { Failure } from '../../domain/failure.ts';
import {
  type AlertRow,
  findAlertsHead,
  listAlerts as readAlerts,
} from '../../store/alerts/alerts.ts';
import type { AlertContexts } from './alert-context.ts';
import type { Handler } from './handlers.ts';
import { toList, toPage } from './list.ts';

export const listAlerts: Handler<'listAlerts'> = async ({ accountId, query }, { reader }) => {
  const scope = { accountId, domainId: query.domain_id?.toLowerCase() };
  const head = await findAlertsHead(reader, scope);
  if (head === undefined) throw new Failure('not_found', 'No such domain.');
  const page = toPage(query);
  return {
    head,
    page,
    read: async () => toList(await readAlerts(reader, scope, page), toAlert),
  };
};

function toAlert(row: AlertRow): components['schemas']['Alert'] {
  const context: AlertContexts[AlertType] = JSON.parse(row.context);
  return { ...row, context };
}
