import type { Request } from 'express';
import { html } from 'hono/html';
import { findAlertText } from '../../domain/alerts/alert-texts.ts';
import type { Sort } from '../../domain/sort.ts';
import { formatCount } from '../../domain/text.ts';
import {
  ALERT_COLUMNS,
  type AlertColumn,
  type AlertSearch,
  hasMoreAlerts,
  listFoundAlerts,
} from '../../store/alerts/alert-search.ts';
import type { AlertOfAccount } from '../../store/alerts/alerts.ts';
import { MAX_SEARCHED } from '../../store/lists/search.ts';
import { countTold, type ToldCount } from '../../store/notify/told.ts';
import type { PageHandler } from '../deps.ts';
import { renderExport, sendCsv } from '../frame/csv.ts';
import { renderPages, renderTable, toSortHead } from '../frame/elements.ts';
import { renderHiddenFields, renderOptions, renderSearch } from '../frame/forms.ts';
import { sendPage } from '../frame/page.ts';
import { readPeriod, renderPeriod, toInstants } from '../frame/period.ts';
import { type Html, renderDomainName, renderText, renderTime } from '../frame/text.ts';
import { readPageNumber, readQuery, readSearch, readSort, toSortParameters } from '../request.ts';
import { visitorOf } from '../visitor.ts';
import { renderLinks, renderState } from './alert-view.ts';
import { describeTold } from './told-view.ts';

const PATH = '/settings/alerts';
const PER_PAGE = 50;
const MAX_TEXT = 1_500;

const STATES = { open: 'Open', resolved: 'Resolved' } as const;
const LATEST_FIRST: Sort<AlertColumn> = { column: 'fired', order: 'desc' };

export const showAlerts: PageHandler = async ({ store: { db }, now }, req, res) => {
  const { accountId } = visitorOf(res);
  const [form, page] = [readForm(req), readPageNumber(req)];
  const search = toSearch(form);
  const found = await listFoundAlerts(db, accountId, {
    ...search,
    sort: form.sort ?? LATEST_FIRST,
    limit: PER_PAGE + 1,
    skip: (page - 1) * PER_PAGE,
  });
  const alerts = found.slice(0, PER_PAGE);
  const told = await countTold(db, accountId, alerts);
  const isCut = await hasMoreAlerts(db, accountId, search);
  const toPath = (to: number) => `${PATH}?${toQuery(form)}&page=${to}`;
  const main = html`<h1>Alerts</h1>
    <p class="lead">What Plumbline noticed about this account’s domains. Days are UTC.</p>
    ${renderForm(form)}
    <section class="card" aria-label="Alerts">
      <div class="beside">
        <p class="muted">${isCut ? `Of the latest ${formatCount(MAX_SEARCHED)} alerts of these days.` : ''}</p>
        <p class="export">${renderExport(`${PATH}/csv?${toQuery(form)}`, alerts.length)}</p>
      </div>
      ${alerts.length === 0 ? html`<p class="empty">${toQuery(form) === '' ? 'No alert has fired yet.' : 'No such alert.'}</p>` : renderAlerts(alerts, form, { now: now(), told })}
      ${renderPages({ label: 'Pages of alerts', page, hasNext: found.length > PER_PAGE, toPath })}
    </section>`;
  await sendPage(res, { title: 'Alerts', current: 'alerts', main });
};

const HEADS = ['Type', 'Domain', 'Fired (UTC)', 'Resolved (UTC)', 'What happened'];

/** What the page with the same query shows, all pages of it. */
export const exportAlerts: PageHandler = async ({ store: { db } }, req, res) => {
  const { accountId } = visitorOf(res);
  const { sort = LATEST_FIRST, ...form } = readForm(req);
  const all = { ...toSearch(form), sort, limit: MAX_SEARCHED, skip: 0 };
  const found = await listFoundAlerts(db, accountId, all);
  const rows = found.map(toRow);
  await sendCsv(res, { fileName: 'alerts', heads: HEADS, count: found.length, rows });
};

function toRow({ type, domain, fired_at, resolved_at, context }: AlertOfAccount) {
  const { title, describe } = findAlertText(type);
  return [title, domain, fired_at, resolved_at, describe(JSON.parse(context))];
}

type AlertForm = ReturnType<typeof readForm>;

/** What is shown, as the URL says it; empty where nothing was chosen. */
function readForm(req: Request) {
  const states = Object.keys(STATES) as (keyof typeof STATES)[];
  return {
    state: states.find((one) => one === readQuery(req, 'state')) ?? ('' as const),
    q: readSearch(req),
    ...readPeriod(req),
    sort: readSort(req, ALERT_COLUMNS),
  };
}

function toSearch({ state, q, ...period }: Omit<AlertForm, 'sort'>): AlertSearch {
  return { state: state || undefined, search: q, ...toInstants(period) };
}

function renderForm({ state, q, sort, ...period }: AlertForm): Html {
  const isFiltered = `${state}${q}${period.from}${period.until}` !== '';
  return html`<form method="get" action="${PATH}" class="card filter">
    ${renderHiddenFields(toSortParameters(sort))}
    <div><label for="state">State</label>
      <select id="state" name="state">${renderOptions([['', 'All'], ...Object.entries(STATES)], state)}</select></div>
    ${renderSearch(q, 'Domain, address')}
    ${renderPeriod(period, isFiltered ? PATH : undefined)}
  </form>`;
}

const COLUMNS = [
  { text: 'Alert', column: 'type' },
  { text: 'Domain', column: 'domain' },
  { text: 'Fired', column: 'fired' },
] as const;

interface Told {
  readonly now: Date;
  readonly told: ReadonlyMap<string, readonly ToldCount[]>;
}

function renderAlerts(alerts: readonly AlertOfAccount[], form: AlertForm, of: Told): Html {
  const toPath = (sort: Sort<AlertColumn>) => `${PATH}?${toQuery({ ...form, sort })}`;
  const sorted = { sort: form.sort ?? LATEST_FIRST, toPath };
  const heads = COLUMNS.map((head) => toSortHead<AlertColumn>(head, sorted));
  const rows = alerts.map((alert) => renderRow(alert, of));
  return renderTable('alert-table cards', [...heads, 'Resolved', 'Told'], rows);
}

function renderRow(alert: AlertOfAccount, { now, told: counts }: Told): Html {
  const { id, type, domain_id, domain, fired_at, resolved_at, context } = alert;
  const { title, describe } = findAlertText(type);
  const told = JSON.parse(context);
  return html`<tr role="row">
    <th role="rowheader" scope="row">${title}<div class="muted"><p>${renderText(describe(told), MAX_TEXT)}</p>${renderLinks({ ...alert, context: told }, now)}</div></th>
    <td role="cell" data-label="Domain" class="name"><a href="/settings/domains/${domain_id}">${renderDomainName(domain)}</a></td>
    <td role="cell" data-label="Fired">${renderTime(fired_at, now)}</td>
    <td role="cell" data-label="Resolved">${resolved_at === null ? renderState({ resolved_at, context: told }) : renderTime(resolved_at, now)}</td>
    <td role="cell" data-label="Told"><a href="${PATH}/${id}">${describeTold(counts.get(id), alert, now)}</a></td>
  </tr>`;
}

function toQuery({ sort, ...fields }: AlertForm): string {
  const chosen = Object.entries(fields).filter(([, value]) => value !== '');
  return new URLSearchParams([...chosen, ...Object.entries(toSortParameters(sort))]).toString();
}
