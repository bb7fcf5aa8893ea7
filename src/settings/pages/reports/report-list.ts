import type { Request } from 'express';
import { html } from 'hono/html';
import { isInstant } from '../../../domain/instant.ts';
import { findDataDays } from '../../../store/accounts/domain-reports.ts';
import type { DomainRow } from '../../../store/accounts/domains.ts';
import { findDomain } from '../../../store/accounts/overview.ts';
import {
  MAX_SEARCHED,
  type Reporter,
  type ReporterCount,
  type ReportKey,
  type ReportPage,
  type ReportPageQuery,
  readReportPage,
  SENDERS,
  type Sender,
} from '../../../store/reports/report-list.ts';
import type { PageHandler } from '../../deps.ts';
import { renderTrail } from '../../frame/elements.ts';
import { renderHiddenFields, renderOptions } from '../../frame/forms.ts';
import { sendPage } from '../../frame/page.ts';
import {
  type DomainRange,
  readRange,
  renderEmptyRange,
  renderRanges,
  toRangeParameters,
  toRangeQuery,
} from '../../frame/range.ts';
import {
  formatCount,
  formatDay,
  formatDomainName,
  type Html,
  pluralize,
  renderDomainName,
  toSafeText,
} from '../../frame/text.ts';
import { readQuery } from '../../request.ts';
import { domainScopeOf } from '../../visitor.ts';
import { renderReportTable } from './report-table.ts';

const PER_PAGE = 50;
const MAX_CHOICE = 60;

interface ListQuery {
  readonly path: string;
  readonly range: DomainRange;
  /** Of the reporter alone; undefined for every reporter, null for those without a name. */
  readonly reporter: Reporter | undefined;
  readonly sender: Sender | undefined;
  readonly isFirst: boolean;
}

export const showReports: PageHandler = async ({ store: { reader }, now }, req, res) => {
  const scope = domainScopeOf(req, res);
  const domain = await findDomain(reader, scope);
  const range = readRange(req, await findDataDays(reader, scope), now());
  const [reporter, start] = [readReporter(req), readStart(req)];
  const sender = SENDERS.find((one) => one === readQuery(req, 'sender'));
  const page = await readReportPage(reader, {
    ...{ domainId: domain.id, from: range.from, to: range.to, reporter, sender, start },
    limit: PER_PAGE,
  });
  const path = `/settings/domains/${domain.id}/reports`;
  const query = { path, range, reporter, sender, isFirst: start === undefined };
  const title = `Reports of ${formatDomainName(domain.name)}`;
  await sendPage(res, { title, current: 'overview', main: renderMain(domain, page, query) });
};

const UNNAMED = 'unnamed';
const NAMED = 'name:';

function readReporter(req: Request): Reporter | undefined {
  const value = readQuery(req, 'reporter');
  if (value === UNNAMED) return null;
  if (!value.startsWith(NAMED)) return undefined;
  try {
    return decodeURIComponent(value.slice(NAMED.length));
  } catch {
    return undefined;
  }
}

/** Encoded: a name may have characters that no page of ours has, and a browser would change its line ends. */
function toReporterValue(reporter: Reporter): string {
  return reporter === null ? UNNAMED : `${NAMED}${encodeURIComponent(reporter.toWellFormed())}`;
}

const KEY = /^(.{20})-(\d{1,15})$/;

/** A value that is not one of ours gives the first page. */
function readStart(req: Request): ReportPageQuery['start'] {
  for (const direction of ['older', 'newer'] as const) {
    const [, begin = '', seq] = KEY.exec(readQuery(req, direction)) ?? [];
    if (isInstant(begin)) return { direction, key: { begin, seq: Number(seq) } };
  }
  return undefined;
}

function toKeyValue({ begin, seq }: ReportKey): string {
  return `${begin}-${seq}`;
}

function renderMain(domain: DomainRow, page: ReportPage, query: ListQuery): Html {
  const { path, range } = query;
  const other = toParameters(query);
  return html`${renderTrail(domain, 'Reports')}
    <h1>Reports</h1>
    <p class="lead">${renderDomainName(domain.name)}, ${formatDay(range.from)} to ${formatDay(range.to)}</p>
    <section class="card" aria-label="Reports">
      ${renderRanges(path, range, other)}
      ${
        page.total === 0
          ? renderEmptyRange(path, range, other)
          : html`${renderChoice(page, query)}${renderRows(domain.id, page, query)}`
      }
    </section>`;
}

type Filter = Pick<ListQuery, 'reporter' | 'sender'>;

function toParameters({ reporter, sender }: Filter): Readonly<Record<string, string>> {
  return {
    ...(reporter !== undefined && { reporter: toReporterValue(reporter) }),
    ...(sender !== undefined && { sender }),
  };
}

function renderChoice(page: ReportPage, { path, range, reporter, sender }: ListQuery): Html {
  const { reporters, total, hasMore } = page;
  const isListed = reporter === undefined || reporters.some((one) => one.reporter === reporter);
  const listed = isListed ? reporters : [{ reporter, reports: 0 }, ...reporters];
  const options = listed.map(
    (one) => [toReporterValue(one.reporter), describeReporter(one)] as const,
  );
  return html`<form method="get" action="${path}" class="reporter">
    ${renderHiddenFields(toRangeParameters(range))}
    <label for="reporter">Reporter</label>
    <select id="reporter" name="reporter">${renderOptions(
      [['', `All, ${pluralize(total, 'report')}`], ...options],
      reporter === undefined ? undefined : toReporterValue(reporter),
    )}</select>
    <label for="sender">Sender</label>
    <select id="sender" name="sender">${renderOptions(SENDER_OPTIONS, sender)}</select>
    <button class="secondary">Show</button>
  </form>
  ${hasMore ? html`<p class="muted">Reporters are counted in the latest ${formatCount(MAX_SEARCHED)} of ${pluralize(total, 'report')}.</p>` : ''}`;
}

const SENDER_OPTIONS = [
  ['', 'All'],
  ['authenticated', 'Authenticated'],
  ['not_authenticated', 'Not authenticated'],
  ['file', 'Files'],
] as const satisfies readonly (readonly [Sender | '', string])[];

function describeReporter({ reporter, reports }: ReporterCount): string {
  const name = reporter === null ? 'Unnamed reporter' : toSafeText(reporter, MAX_CHOICE);
  return `${name}, ${formatCount(reports)}`;
}

function renderRows(domainId: string, page: ReportPage, query: ListQuery): Html {
  return html`${
    page.reports.length > 0
      ? renderReportTable(domainId, page.reports)
      : html`<p class="empty">${describeNone(page, query)}</p>`
  }
  ${renderPages(page, query)}`;
}

/** What is chosen is searched in a part of the range; older or newer reports may have more. */
function describeNone({ older, newer }: ReportPage, { reporter, sender }: ListQuery): string {
  if (reporter === undefined && sender === undefined) return 'No report is on this page.';
  const sides = [older && 'older', newer && 'newer'].filter((side) => side !== undefined);
  if (sides.length === 0) return 'No such report covers this range.';
  return `No such report is among those that were looked at, ${formatCount(MAX_SEARCHED)} at most. There may be some among ${sides.join(' and ')} ones.`;
}

function renderPages({ older, newer }: ReportPage, query: ListQuery): Html | '' {
  const { path, range, isFirst } = query;
  if (isFirst && older === undefined) return '';
  const link = (text: string, start: Readonly<Record<string, string>>) => {
    const other = { ...toParameters(query), ...start };
    return html`<a href="${path}?${toRangeQuery(range, other)}">${text}</a>`;
  };
  return html`<nav class="pages" aria-label="Pages of reports">
    ${isFirst ? '' : link('Newest', {})}
    ${newer === undefined ? '' : link('Newer', { newer: toKeyValue(newer) })}
    ${older === undefined ? '' : link('Older', { older: toKeyValue(older) })}
  </nav>`;
}
