import { html } from 'hono/html';
import { toPassRate } from '../../../domain/pass-rate.ts';
import {
  formatCount,
  formatDay,
  formatDomainName,
  pluralize,
  toSafeText,
} from '../../../domain/text.ts';
import type { DomainRow } from '../../../store/domains/domains.ts';
import { MAX_SEARCHED } from '../../../store/lists/search.ts';
import {
  countReports,
  type ReportPage,
  readParts,
  readReportPage,
} from '../../../store/reports/report-list.ts';
import type { ListedReport, SenderKind } from '../../../store/reports/report-list-queries.ts';
import type { PageHandler } from '../../deps.ts';
import { type Cell, renderExport, sendCsv } from '../../frame/csv.ts';
import { renderTrail } from '../../frame/elements.ts';
import { renderOptions, renderSearch } from '../../frame/forms.ts';
import { sendPage } from '../../frame/page.ts';
import {
  type DomainRange,
  readDomainRange,
  renderEmptyRange,
  renderFilter,
  renderTabs,
  toRangeQuery,
} from '../../frame/range.ts';
import { type Html, renderDomainName } from '../../frame/text.ts';
import { readPageNumber, toSortParameters } from '../../request.ts';
import { domainScopeOf } from '../../visitor.ts';
import {
  type ReportChoice,
  readFilter,
  readStart,
  toKeyValue,
  toReporterValue,
  toReportParameters,
} from './report-filter.ts';
import { renderReportTable } from './report-table.ts';

const PER_PAGE = 50;
const MAX_CHOICE = 60;

interface ReportListView extends ReportChoice {
  readonly path: string;
  readonly range: DomainRange;
  readonly isFirst: boolean;
  /** The page of a sorted list, from 1. */
  readonly page: number;
}

export const showReports: PageHandler = async (deps, req, res) => {
  const { domain, range } = await readDomainRange(deps, req, { scope: domainScopeOf(req, res) });
  const { sort, ...filter } = readFilter(req);
  const [start, page] = [readStart(req), readPageNumber(req)];
  const found = await readReportPage(deps.store.reader, {
    ...filter,
    domainId: domain.id,
    from: range.from,
    to: range.to,
    start,
    limit: PER_PAGE,
    sort: sort && { ...sort, page },
  });
  const path = `/settings/domains/${domain.id}/reports`;
  const query = { path, range, ...filter, sort, isFirst: start === undefined, page };
  const title = `Reports of ${formatDomainName(domain.name)}`;
  await sendPage(res, { title, current: 'overview', main: renderMain(domain, found, query) });
};

function renderMain(domain: DomainRow, page: ReportPage, query: ReportListView): Html {
  const { path, range } = query;
  const other = toReportParameters(query);
  return html`${renderTrail(domain, 'Reports')}
    <h1>Reports</h1>
    <p class="lead">${renderDomainName(domain.name)}, ${formatDay(range.from)} to ${formatDay(range.to)}</p>
    ${renderTabs(domain.id, 'Reports', range)}
    <section class="card" aria-label="Reports">
      ${renderFilter(path, range, {
        other,
        hidden: toSortParameters(query.sort),
        fields: renderFields(page, query),
      })}
      ${
        page.total === 0
          ? renderEmptyRange(path, range, other)
          : html`${renderNote(page, query)}${renderRows(domain.id, page, query)}`
      }
    </section>`;
}

function renderFields(page: ReportPage, filter: ReportChoice): readonly Html[] {
  const { reporters, total } = page;
  const { reporter, sender, search } = filter;
  const isListed = reporter === undefined || reporters.some((one) => one.reporter === reporter);
  const listed = isListed ? reporters : [{ reporter, reports: 0 }, ...reporters];
  const options = listed.map(
    (one) => [toReporterValue(one.reporter), describeReporter(one)] as const,
  );
  const all = ['', `All, ${pluralize(total, 'report')}`] as const;
  const chosen = reporter === undefined ? undefined : toReporterValue(reporter);
  return [
    html`<div><label for="reporter">Reporter</label>
      <select id="reporter" name="reporter">${renderOptions([all, ...options], chosen)}</select></div>`,
    html`<div><label for="sender">Sender</label>
      <select id="sender" name="sender">${renderOptions(SENDER_OPTIONS, sender)}</select></div>`,
    renderSearch(search, 'Name, e-mail or id'),
  ];
}

/** What is looked at of a range with many reports, and the list as a file. */
function renderNote({ total, hasMore }: ReportPage, query: ReportListView): Html {
  const { path, range, sort } = query;
  const latest = `the latest ${formatCount(MAX_SEARCHED)} of ${pluralize(total, 'report')}`;
  const what = sort === undefined ? 'Reporters are counted in' : 'Sorted are';
  return html`<div class="beside">
    <p class="muted">${hasMore ? `${what} ${latest}.` : ''}</p>
    <p class="export">${renderExport(`${path}/csv?${toRangeQuery(range, toReportParameters(query))}`, sort === undefined ? total : 0)}</p>
  </div>`;
}

const SENDER_OPTIONS = [
  ['', 'All'],
  ['authenticated', 'Authenticated'],
  ['not_authenticated', 'Not authenticated'],
  ['file', 'Files'],
] as const satisfies readonly (readonly [SenderKind | '', string])[];

function describeReporter({ reporter, reports }: ReportPage['reporters'][number]): string {
  const name = reporter === null ? 'Unnamed reporter' : toSafeText(reporter, MAX_CHOICE);
  return `${name}, ${formatCount(reports)}`;
}

function renderRows(domainId: string, page: ReportPage, query: ReportListView): Html {
  const { path, range, sort } = query;
  const toPath = (by: NonNullable<typeof sort>) =>
    `${path}?${toRangeQuery(range, toReportParameters({ ...query, sort: by }))}`;
  return html`${
    page.reports.length > 0
      ? renderReportTable(domainId, page.reports, { sort, toPath })
      : html`<p class="empty">${describeNone(page, query)}</p>`
  }
  ${renderPages(page, query)}`;
}

/** What is chosen is searched in a part of the range; older or newer reports may have more. */
function describeNone(page: ReportPage, { sort, ...choice }: ReportListView) {
  const { older, newer, hasMore } = page;
  const isWhole = Object.keys(toReportParameters({ ...choice, sort: undefined })).length === 0;
  if (isWhole) return 'No report is on this page.';
  const sides = [older && 'older', newer && 'newer'].filter((side) => side !== undefined);
  if (sides.length === 0 && !(sort && hasMore)) return 'No such report covers this range.';
  if (sort) return `No such report is among the latest ${formatCount(MAX_SEARCHED)}.`;
  return `No such report is among those that were looked at, ${formatCount(MAX_SEARCHED)} at most. There may be some among ${sides.join(' and ')} ones.`;
}

function renderPages(found: ReportPage, query: ReportListView): Html | '' {
  const { path, range, isFirst, sort, page } = query;
  const { older, newer, hasNextPage } = found;
  const link = (text: string, start: Readonly<Record<string, string>>) => {
    const other = { ...toReportParameters(query), ...start };
    return html`<a href="${path}?${toRangeQuery(range, other)}">${text}</a>`;
  };
  const links = sort
    ? [
        page > 1 && link('Previous', { page: `${page - 1}` }),
        hasNextPage && link('Next', { page: `${page + 1}` }),
        link('Newest first', { sort: '', order: '' }),
      ]
    : [
        !isFirst && link('Newest', {}),
        newer && link('Newer', { newer: toKeyValue(newer) }),
        older && link('Older', { older: toKeyValue(older) }),
      ];
  const shown = links.filter((one) => one !== false && one !== undefined);
  if (shown.length === 0) return '';
  return html`<nav class="pages" aria-label="Pages of reports">${shown}</nav>`;
}

/** What the list with the same query shows, all pages of it. */
export const exportReports: PageHandler = async (deps, req, res) => {
  const { domain, range } = await readDomainRange(deps, req, { scope: domainScopeOf(req, res) });
  const { from, to } = range;
  const { sort, ...filter } = readFilter(req);
  const days = { domainId: domain.id, from, to };
  const query = { ...days, ...filter, sort: sort && { ...sort, page: 1 } };
  const rows = async function* () {
    for await (const part of readParts(deps.store, query))
      yield* part.map((report) => CELLS.map(([, toCell]) => toCell(report)));
  };
  await sendCsv(res, {
    fileName: `${domain.name.slice(0, 100)}-reports-${from}-${to}`,
    heads: CELLS.map(([head]) => head),
    count: sort === undefined ? await countReports(deps.store.reader, days) : 0,
    rows: rows(),
  });
};

const CELLS: readonly (readonly [head: string, toCell: (report: ListedReport) => Cell])[] = [
  ['Reporter', (report) => report.reporter_org],
  ['E-mail', (report) => report.reporter_email],
  ['Begins (UTC)', (report) => report.begin_date],
  ['Ends (UTC)', (report) => report.end_date],
  ['Records', (report) => report.record_count],
  ['Messages', (report) => report.total_messages],
  ['Passed', (report) => report.aligned_messages],
  ['Failed', (report) => report.total_messages - report.aligned_messages],
  ['Pass rate (%)', toRate],
  ['Sender authenticated as', (report) => report.authenticated],
  ['Id', (report) => report.id],
  ['Doubt', (report) => report.doubt],
];

function toRate({ total_messages: messages, aligned_messages: aligned }: ListedReport): Cell {
  return messages === 0 ? null : toPassRate({ messages, aligned });
}
