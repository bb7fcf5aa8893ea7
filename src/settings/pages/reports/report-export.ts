import { toPassRate } from '../../../domain/alerts/rate.ts';
import { findDataDays } from '../../../store/domains/domain-reports.ts';
import { findDomain } from '../../../store/domains/overview.ts';
import { countReports, readParts } from '../../../store/reports/report-list.ts';
import type { ListedReport } from '../../../store/reports/report-list-queries.ts';
import type { PageHandler } from '../../deps.ts';
import { type Cell, sendCsv } from '../../frame/csv.ts';
import { readRange } from '../../frame/range.ts';
import { domainScopeOf } from '../../visitor.ts';
import { readFilter } from './report-filter.ts';

const HEADS = [
  ...[
    'Reporter',
    'E-mail',
    'Begins (UTC)',
    'Ends (UTC)',
    'Records',
    'Messages',
    'Passed',
    'Failed',
  ],
  ...['Pass rate (%)', 'Sender authenticated as', 'Id'],
];

/** What the list with the same query shows, all pages of it. */
export const exportReports: PageHandler = async ({ store, now }, req, res) => {
  const { reader } = store;
  const scope = domainScopeOf(req, res);
  const domain = await findDomain(reader, scope);
  const { from, to } = readRange(req, await findDataDays(reader, scope), now());
  const { sort, ...filter } = readFilter(req);
  const days = { domainId: domain.id, from, to };
  const query = { ...days, ...filter, sort: sort && { ...sort, page: 1 } };
  const rows = async function* () {
    for await (const part of readParts(store, query)) yield* part.map(toRow);
  };
  await sendCsv(res, {
    fileName: `${domain.name.slice(0, 100)}-reports-${from}-${to}`,
    heads: HEADS,
    count: sort === undefined ? await countReports(reader, days) : 0,
    rows: rows(),
  });
};

function toRow(report: ListedReport): readonly Cell[] {
  const { total_messages: messages, aligned_messages: aligned } = report;
  return [
    ...[report.reporter_org, report.reporter_email, report.begin_date, report.end_date],
    ...[report.record_count, messages, aligned, messages - aligned],
    messages === 0 ? null : toPassRate({ messages, aligned }),
    ...[report.authenticated, report.id],
  ];
}
