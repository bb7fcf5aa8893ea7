import { type ReportFilter, reportsOf } from '../store/reports/reports.ts';
import { toDays } from './filters.ts';
import type { Handler } from './operation.ts';

export const listReports = (({ accountId, path, query }) => {
  const { received_after: cursor, from, until, reporter, ...page } = query;
  const filter: ReportFilter = { ...toDays(from, until), reporter };
  const list = reportsOf({ accountId, domainId: path.domain_id }, filter);
  if (cursor === undefined) return { list, page };
  return { list: { followed: list, parameter: 'received_after', cursor }, page };
}) satisfies Handler<'listReports'>;
