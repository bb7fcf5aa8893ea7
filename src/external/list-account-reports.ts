import { reportsOfAccount } from '../store/reports/reports.ts';
import type { Handler } from './operation.ts';

export const listAccountReports = (({ accountId, query: page }) => ({
  list: reportsOfAccount(accountId),
  page,
})) satisfies Handler<'listAccountReports'>;
