import { reportsOfAccount } from '../store/account-reports/list.ts';
import type { Handler } from './operation.ts';

export const listAccountReports = (({ accountId, query }) => {
  const { received_after: cursor, ...page } = query;
  const list = reportsOfAccount(accountId);
  if (cursor === undefined) return { list, page };
  return { list: { followed: list, parameter: 'received_after', cursor }, page };
}) satisfies Handler<'listAccountReports'>;
