import { getDomain } from './get-domain.ts';
import { getKey } from './get-key.ts';
import { listAccountReports } from './list-account-reports.ts';
import { listAlerts } from './list-alerts.ts';
import { listChanges } from './list-changes.ts';
import { listDays, listDomainDays } from './list-days.ts';
import { listDomains } from './list-domains.ts';
import { listOverview } from './list-overview.ts';
import { listReportRecords } from './list-report-records.ts';
import { listReports } from './list-reports.ts';
import { listSources } from './list-sources.ts';
import { listDomainTlsDays } from './list-tls-days.ts';
import { listTlsReportFailures, listTlsReports } from './list-tls-reports.ts';
import type { Handlers } from './operation.ts';

export const handlers = {
  listDomains,
  getDomain,
  listSources,
  listReports,
  listReportRecords,
  listAccountReports,
  listTlsReports,
  listTlsReportFailures,
  listChanges,
  listAlerts,
  listOverview,
  listDays,
  listDomainDays,
  listDomainTlsDays,
  getKey,
} satisfies Handlers;
