import { type ReportFilter, reportsInAccount, reportsOfAccount } from '../store/reports/reports.ts';
import { toDays } from './filters.ts';
import type { Handler } from './operation.ts';

export const listAccountReports = (({ accountId, query }) => {
  const { domain_id: domainId, from, until, reporter, ...page } = query;
  const filter: ReportFilter = { ...toDays(from, until), reporter };
  const list =
    domainId === undefined
      ? reportsOfAccount(accountId, filter)
      : reportsInAccount({ accountId, domainId }, filter);
  return { list, page };
}) satisfies Handler<'listAccountReports'>;
