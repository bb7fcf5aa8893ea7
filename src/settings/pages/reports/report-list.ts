import type { RequestHandler } from 'express';
import { html } from 'hono/html';
import { findDataDays } from '../../../store/accounts/data-days.ts';
import type { DomainRow } from '../../../store/accounts/domains.ts';
import { findDomain } from '../../../store/accounts/overview.ts';
import {
  MAX_SEARCHED,
  type Reporter,
  type ReporterCount,
  type ReportPage,
  readReportPage,
} from '../../../store/reports/report-list.ts';
import { type Html, sendPage } from '../../frame/page.ts';
import {
  type DomainRange,
  renderEmptyRange,
  renderRanges,
  toDomainRange,
  toRangeQuery,
} from '../../frame/range.ts';
import {
  renderDomainName,
  toCount,
  toCounted,
  toDate,
  toDomainText,
  toSafeText,
} from '../../frame/words.ts';
import type { Given } from '../../given.ts';
import { visitorOf } from '../../visitor.ts';
import { readReporter, readStart, toKeyValue, toReporterValue } from './report-list-query.ts';
import { renderReportTable } from './report-table.ts';

const PER_PAGE = 50;
const MAX_CHOICE = 60;

/** What a page of the list was asked for. */
interface Asked {
  readonly path: string;
  readonly range: DomainRange;
  readonly reporter: Reporter | undefined;
  readonly isFirst: boolean;
}

/** All reports of a domain: by range and by reporter, page by page. */
export function showReports({ store: { reader }, now }: Given): RequestHandler {
  return async (req, res) => {
    const { accountId } = visitorOf(res);
    const scope = { accountId, domainId: String(req.params['id']) };
    const domain = await findDomain(reader, scope);
    const range = toDomainRange(req, await findDataDays(reader, scope), now());
    const [reporter, start] = [readReporter(req), readStart(req)];
    const wanted = { domainId: domain.id, from: range.from, to: range.to, reporter, start };
    const page = await readReportPage(reader, { ...wanted, limit: PER_PAGE });
    const path = `/settings/domains/${domain.id}/reports`;
    const asked = { path, range, reporter, isFirst: start === undefined };
    const title = `Reports of ${toDomainText(domain.name)}`;
    await sendPage(res, { title, place: 'overview', main: renderMain(domain, page, asked) });
  };
}

function renderMain(domain: DomainRow, page: ReportPage, asked: Asked): Html {
  const { path, range, reporter } = asked;
  const other = reporter === undefined ? {} : { reporter: toReporterValue(reporter) };
  return html`${renderTrail(domain)}
    <h1>Reports</h1>
    <p class="lead">${renderDomainName(domain.name)}, ${toDate(range.from)} to ${toDate(range.to)}</p>
    <section class="card" aria-label="Reports">
      ${renderRanges(path, range, other)}
      ${
        page.total === 0
          ? renderEmptyRange(path, range, other)
          : html`${renderChoice(page, asked)}${renderRows(domain.id, page, asked)}`
      }
    </section>`;
}

function renderTrail({ id, name }: DomainRow): Html {
  return html`<p class="trail"><a href="/settings/overview">Overview</a> /
    <a href="/settings/domains/${id}">${renderDomainName(name)}</a> / Reports</p>`;
}

/** The reporters of the range, to choose one of. */
function renderChoice(page: ReportPage, { path, range, reporter }: Asked): Html {
  const { reporters, total, hasMore } = page;
  const isListed = reporter === undefined || reporters.some((one) => one.reporter === reporter);
  const listed = isListed ? reporters : [{ reporter, reports: 0 }, ...reporters];
  return html`<form method="get" action="${path}" class="reporter">
    ${[...new URLSearchParams(toRangeQuery(range))].map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
    )}
    <label for="reporter">Reporter</label>
    <select id="reporter" name="reporter">
      <option value="">All, ${toCounted(total, 'report')}</option>
      ${listed.map((one) => renderOption(one, reporter))}
    </select>
    <button class="secondary">Show</button>
  </form>
  ${hasMore ? html`<p class="muted">Reporters are counted in the latest ${toCount(MAX_SEARCHED)} of ${toCounted(total, 'report')}.</p>` : ''}`;
}

function renderOption({ reporter, reports }: ReporterCount, chosen: Reporter | undefined): Html {
  const name = reporter === null ? 'Unnamed reporter' : toSafeText(reporter, MAX_CHOICE);
  return html`<option value="${toReporterValue(reporter)}" ${reporter === chosen ? html`selected` : ''}>${name}, ${toCount(reports)}</option>`;
}

function renderRows(domainId: string, page: ReportPage, asked: Asked): Html {
  return html`${
    page.reports.length > 0
      ? renderReportTable(domainId, page.reports)
      : html`<p class="empty">${sayNone(page, asked)}</p>`
  }
  ${renderPages(page, asked)}`;
}

/** A page of a reporter is looked for in a part of the range, and others may be on either side of it. */
function sayNone({ older, newer }: ReportPage, { reporter }: Asked): string {
  if (reporter === undefined) return 'No report is on this page.';
  const sides = [older && 'older', newer && 'newer'].filter((side) => side !== undefined);
  if (sides.length === 0) return 'This reporter sent no report that covers this range.';
  return `No report of this reporter is among those that were looked at, ${toCount(MAX_SEARCHED)} at most. There may be some among ${sides.join(' and ')} ones.`;
}

function renderPages({ older, newer }: ReportPage, asked: Asked): Html | '' {
  const { path, range, reporter, isFirst } = asked;
  if (isFirst && older === undefined) return '';
  const link = (text: string, start: Readonly<Record<string, string>>) => {
    const other = reporter === undefined ? {} : { reporter: toReporterValue(reporter) };
    return html`<a href="${path}?${toRangeQuery(range, { ...other, ...start })}">${text}</a>`;
  };
  return html`<nav class="pages" aria-label="Pages of reports">
    ${isFirst ? '' : link('Newest', {})}
    ${newer === undefined ? '' : link('Newer', { newer: toKeyValue(newer) })}
    ${older === undefined ? '' : link('Older', { older: toKeyValue(older) })}
  </nav>`;
}
