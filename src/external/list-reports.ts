import { reportsOf } from '../store/reports/reports.ts';
import type { Handler } from './operation.ts';

export const listReports = (({ accountId, path, query }) => {
  const { received_after: cursor, ...page } = query;
  const list = reportsOf({ accountId, domainId: path.domain_id });
  if (cursor === undefined) return { list, page };
  return { list: { followed: list, parameter: 'received_after', cursor }, page };
}) satisfies Handler<'listReports'>;
