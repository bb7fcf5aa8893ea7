import { getDomain } from './get-domain.ts';
import { listAccountReports } from './list-account-reports.ts';
import { listAlerts } from './list-alerts.ts';
import { listChanges } from './list-changes.ts';
import { listDomains } from './list-domains.ts';
import { listReportRecords } from './list-report-records.ts';
import { listReports } from './list-reports.ts';
import { listSources } from './list-sources.ts';
import type { Handlers } from './operation.ts';

export const handlers = {
  listDomains,
  getDomain,
  listSources,
  listReports,
  listReportRecords,
  listAccountReports,
  listChanges,
  listAlerts,
} satisfies Handlers;
