import { followReports, reportsOf } from '../../store/reports/reports.ts';
import { answerFollowed } from './follow.ts';
import type { Handler } from './handlers.ts';
import { answerList } from './list.ts';

export const listReports: Handler<'listReports'> = ({ accountId, params, query }, { reader }) => {
  const domain = { accountId, domainId: params.domain_id.toLowerCase() };
  const { received_after: cursor, ...page } = query;
  if (cursor === undefined) return answerList(reader, reportsOf(domain), page);
  const start = { name: 'received_after', cursor };
  return answerFollowed(reader, followReports(domain), { start, query: page });
};
