import { followReports, reportsOf } from '../store/reports/reports.ts';
import type { Handler } from './operation.ts';

export const listReports = (({ accountId, path, query }) => {
  const { received_after: cursor, ...page } = query;
  const domain = { accountId, domainId: path.domain_id };
  if (cursor === undefined) return { list: reportsOf(domain), page };
  return { list: { followed: followReports(domain), parameter: 'received_after', cursor }, page };
}) satisfies Handler<'listReports'>;
