import { html } from 'hono/html';
import { isUnconfirmed } from '../../domain/alerts/alert-texts.ts';
import type { DayRange } from '../../domain/instant.ts';
import { addUp } from '../../domain/pass-rate.ts';
import { WINDOW_DAYS } from '../../domain/readiness.ts';
import type { Sort } from '../../domain/sort.ts';
import { formatCount, formatDay, formatPassRate, pluralize } from '../../domain/text.ts';
import {
  byRank,
  findWork,
  type ShownItem,
  settleWork,
  type Work,
  type WorkItem,
} from '../../judging/work.ts';
import { listReportAddresses } from '../../store/accounts/mail-address.ts';
import { openProposals } from '../../store/domains/proposals.ts';
import { readInboxOverview } from '../../store/inbox/doors.ts';
import type { PageHandler } from '../deps.ts';
import { renderPages, renderTable, toSortHead } from '../frame/elements.ts';
import { renderHiddenFields, renderSearch } from '../frame/forms.ts';
import { sendPage } from '../frame/page.ts';
import { formatPeriod, type Html } from '../frame/text.ts';
import { readPageNumber, readSearch, readSort, toSortParameters } from '../request.ts';
import { visitorOf } from '../visitor.ts';
import { renderAlert } from './alert-view.ts';
import { describeUnproven, isUnproven } from './aside-view.ts';
import { renderInbox } from './inbox-view.ts';
import { renderProposals } from './proposals.ts';
import { renderChange, renderWorkItem, type WorkItemView } from './work-item-view.ts';
import { searchWork, sortWork, WORK_COLUMNS, type WorkColumn } from './worklist.ts';

const MAX_ALERTS = 10;
const DOMAINS_PER_PAGE = 50;
/** Fewer are seen at a glance, without a search, and with those that need nothing. */
const MANY_DOMAINS = 20;

interface DomainChoice {
  readonly search: string;
  readonly sort: Sort<WorkColumn> | undefined;
  /** From 1. */
  readonly page: number;
}

export const showOverview: PageHandler = async (deps, req, res) => {
  const { store } = deps;
  const now = deps.now();
  const visitor = visitorOf(res);
  const { accountId } = visitor;
  const choice = {
    search: readSearch(req),
    sort: readSort(req, WORK_COLUMNS),
    page: readPageNumber(req),
  };
  const work = await findWork(store.reader, { accountId, now });
  const found = choose(work.items, choice);
  const items = found.slice((choice.page - 1) * DOMAINS_PER_PAGE, choice.page * DOMAINS_PER_PAGE);
  const { range } = work;
  const settled = await settleWork({ ...deps, ...store }, { accountId, range, items });
  const shown = choice.sort === undefined ? settled.sort(byRank) : settled;
  const proposals = await store.reader.readAll(openProposals({ accountId }));
  const [address] = await listReportAddresses(store.db, accountId, deps);
  const toView = (item: ShownItem): WorkItemView => ({ item, range, address, now });
  const isFirst = toPath(choice) === OVERVIEW;
  const main = html`<h1>Overview</h1>
    ${isFirst ? renderProposals(proposals, visitor, now) : ''}
    ${renderBand(work)}
    ${isFirst && work.items.length > 0 ? renderAlerts(work, now) : ''}
    ${
      work.items.length === 0
        ? renderNoDomain(deps.mailHost !== undefined)
        : renderDomains(found.length, shown.map(toView), { choice, range })
    }
    ${isFirst ? renderInbox(await readInboxOverview(store.db), now) : ''}`;
  await sendPage(res, { title: 'Overview', current: 'overview', main });
};

function choose(items: readonly WorkItem[], { search, sort }: DomainChoice): readonly WorkItem[] {
  const found = search === '' ? items : searchWork(items, search);
  return sort === undefined ? found : sortWork(found, sort);
}

const OVERVIEW = '/settings/overview';

function toPath({ search, sort, page }: DomainChoice): string {
  const parameters = new URLSearchParams({
    ...(search !== '' && { q: search }),
    ...toSortParameters(sort),
    ...(page > 1 && { page: String(page) }),
  });
  return parameters.size === 0 ? OVERVIEW : `${OVERVIEW}?${parameters}`;
}

/** All domains, whatever is shown of them. */
function renderBand({ items, range }: Work): Html | '' {
  const counts = addUp(items.map(({ facts }) => facts.counts));
  const before = addUp(items.map(({ facts }) => facts.before));
  if (counts.messages === 0) return '';
  const unproven = items.filter(isUnproven).length;
  return html`<section class="card" aria-label="All domains"><dl class="band">
    <div><dt>Messages</dt><dd>${formatCount(counts.messages)}</dd></div>
    <div><dt>Passed</dt><dd>${formatPassRate(counts)}</dd></div>
    <div><dt>Failed</dt><dd>${formatCount(counts.messages - counts.aligned)}</dd></div>
    <div><dt>Change in points</dt><dd>${renderChange({ counts, before })}</dd></div>
    </dl>
    <p class="muted">${WINDOW_DAYS} days, ${formatDay(range.from)} to ${formatDay(range.to)}, compared with the ${WINDOW_DAYS} days before. Days are in UTC. <a href="/settings/what-changed">What changed in the last week</a></p>
    ${unproven === 0 ? '' : html`<p class="muted">${describeUnproven(` of ${pluralize(unproven, 'domain')}`)}</p>`}
  </section>`;
}

function renderAlerts({ alerts: open }: Work, now: Date): Html {
  const alerts = open
    .map(({ context, ...alert }) => ({ ...alert, context: JSON.parse(context) }))
    .filter(({ context }) => !isUnconfirmed(context));
  if (alerts.length === 0) {
    return html`<section class="card calm"><p>No alert is open. Those that have resolved are on the pages of their domains.</p></section>`;
  }
  const shown = alerts.slice(0, MAX_ALERTS);
  // Each is the next step of its domain, too: several would keep the domains off the first screen.
  return html`<details class="card" ${alerts.length === 1 ? html`open` : ''}>
    <summary><h2 id="alerts">${pluralize(alerts.length, 'open alert')}${shown.length < alerts.length ? `, the latest ${MAX_ALERTS}` : ''}</h2></summary>
    <ul class="alerts">${shown.map((alert) => renderAlert(alert, now))}</ul>
  </details>`;
}

const HEADS = [
  { text: 'Domain', column: 'name', first: 'asc' },
  { text: 'Messages', column: 'messages', className: 'number' },
  { text: 'Passed', column: 'rate', className: 'number' },
  { text: 'Change', column: 'change', className: 'number' },
  { text: 'Policy', column: 'policy' },
] as const satisfies readonly { column: WorkColumn; [name: string]: string }[];

function renderDomains(
  total: number,
  views: readonly WorkItemView[],
  { choice, range }: { readonly choice: DomainChoice; readonly range: DayRange },
): Html {
  const { search, sort, page } = choice;
  const pages = Math.ceil(total / DOMAINS_PER_PAGE);
  const toSorted = (by: Sort<WorkColumn> | undefined) => toPath({ ...choice, sort: by, page: 1 });
  const heads = HEADS.map((head) => toSortHead<WorkColumn>(head, { sort, toPath: toSorted }));
  const render = (some: readonly WorkItemView[]) =>
    renderTable('domains cards', [...heads, 'Last report', 'Next step'], some.map(renderWorkItem));
  const isFolded = total >= MANY_DOMAINS && sort === undefined && search === '';
  const calm = isFolded ? views.filter(({ item }) => item.step.kind === 'nothing') : [];
  const rest = views.filter((view) => !calm.includes(view));
  return html`<section class="card" aria-labelledby="domains">
    <div class="beside"><h2 id="domains">${search === '' ? pluralize(total, 'domain') : `${pluralize(total, 'domain')} found`}</h2>
      ${sort === undefined ? '' : html`<a href="${toSorted(undefined)}">What needs you first</a>`}
      ${
        total >= MANY_DOMAINS || search !== ''
          ? html`<form method="get" action="${OVERVIEW}" class="find">${renderHiddenFields(toSortParameters(sort))}
            ${renderSearch(search, 'part of a name')}<button class="secondary">Search</button></form>`
          : ''
      }</div>
    ${views.length === 0 ? html`<p class="empty">No domain of the account is here.</p>` : ''}
    ${rest.length === 0 ? '' : render(rest)}
    ${calm.length === 0 ? '' : html`<details><summary>${pluralize(calm.length, 'domain')} that ${calm.length === 1 ? 'needs' : 'need'} nothing</summary>${render(calm)}</details>`}
    <p class="muted">Numbers are of ${formatPeriod(range)}, for all domains. Next steps, and a domain’s own page, are of the ${WINDOW_DAYS} days up to its own newest report.</p>
    ${renderPages({
      label: 'Pages of domains',
      page,
      pages,
      hasNext: page < pages,
      toPath: (number) => toPath({ ...choice, page: number }),
    })}
  </section>`;
}

/** A domain whose record names the account's own address is proposed (decision 77). */
function renderNoDomain(hasOwnAddress: boolean): Html {
  const own = html`<p>Or name this account’s own <a href="/settings/account">address for reports</a> in the DMARC record of a
    domain: with its first report it is proposed here, and an owner of the account adds it.</p>`;
  return html`<section class="card calm">
    <h2>No domain yet</h2>
    <p>The operator of this Plumbline adds domains. Their reports and pass rates appear here.</p>
    ${hasOwnAddress ? own : html`<p>They need to know <a href="/settings/account">this account’s id</a>.</p>`}
  </section>`;
}
