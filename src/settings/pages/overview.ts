import { html } from 'hono/html';
import { addUp } from '../../domain/alerts/rate.ts';
import { addDays, type Day, toDay, toInstant } from '../../domain/instant.ts';
import { findNextStep, WINDOW_DAYS } from '../../domain/next-step.ts';
import { listReportAddresses } from '../../store/accounts/mail-address.ts';
import { readOverview } from '../../store/accounts/overview.ts';
import { readInboxOverview } from '../../store/inbox/doors.ts';
import type { PageHandler } from '../deps.ts';
import { type ChartDay, type Column, toColumns } from '../frame/charts/columns.ts';
import { renderPages } from '../frame/elements.ts';
import { sendPage } from '../frame/page.ts';
import { readPageNumber } from '../request.ts';
import { visitorOf } from '../visitor.ts';
import {
  MAX_ALERTS,
  renderAlerts,
  renderDomain,
  renderDomains,
  renderInbox,
  type Summary,
} from './overview-view.ts';

const DOMAINS_PER_PAGE = 25;
/** Days that are read. A domain's month ends with its newest day, which may be so long ago. */
const READ_DAYS = 90;

type Read = Awaited<ReturnType<typeof readOverview>>;

/** An overview of the account: open alerts first, then its domains, then how reports come in. */
export const showOverview: PageHandler = async (deps, req, res) => {
  const { store, now } = deps;
  const at = now();
  const { accountId } = visitorOf(res);
  const page = readPageNumber(req);
  const today = toDay(toInstant(at));
  const read = await readOverview(store.reader, accountId, {
    since: addDays(today, 1 - READ_DAYS),
    alertLimit: MAX_ALERTS,
    limit: DOMAINS_PER_PAGE,
    offset: (page - 1) * DOMAINS_PER_PAGE,
  });
  const [address] = await listReportAddresses(store.db, accountId, deps);
  const rows = summarise(read, today).map((row) => renderDomain(row, address, at));
  const main = html`<h1>Overview</h1>
    ${page === 1 && read.total > 0 ? renderAlerts(read.alerts, at) : ''}
    ${renderDomains(rows, deps.mailHost !== undefined)}
    ${renderPages({
      label: 'Pages of domains',
      page,
      pages: Math.ceil(read.total / DOMAINS_PER_PAGE),
      toPath: (number) => `/settings/overview?page=${number}`,
    })}
    ${page === 1 ? renderInbox(await readInboxOverview(store.db), at) : ''}`;
  await sendPage(res, { title: 'Overview', current: 'overview', main });
};

function summarise(read: Read, today: Day): Summary[] {
  const days = Map.groupBy(read.days, ({ domain_id }) => domain_id);
  const types = Map.groupBy(read.openTypes, ({ domain_id }) => domain_id);
  const spans = new Map(read.spans.map((span) => [span.domain_id, span]));
  const states = new Map(read.records.map(({ domain_id, state }) => [domain_id, state]));
  return read.domains.map((domain) => {
    const { oldest = null, newest = null } = spans.get(domain.id) ?? {};
    const month = findMonth(days.get(domain.id) ?? [], newest, today);
    const openAlerts = (types.get(domain.id) ?? []).map(({ type }) => type);
    const dataDays = month.filter(({ messages }) => messages > 0).length;
    const figures = { oldest, newest, counts: addUp(month), dataDays };
    const record = parseRecord(states.get(domain.id));
    const { status } = domain;
    const step = findNextStep({ status, today, ...figures, record, openAlerts });
    return { domain, newest, columns: month, step };
  });
}

function findMonth(days: readonly ChartDay[], newest: Day | null, today: Day): readonly Column[] {
  if (newest === null) return [];
  const from = addDays(newest, 1 - WINDOW_DAYS);
  // Its days were not read.
  if (from < addDays(today, 1 - READ_DAYS)) return [];
  return toColumns(days, { from, to: newest }).columns;
}

function parseRecord(state: string | undefined): string | null | undefined {
  return state === undefined ? undefined : JSON.parse(state).confirmed?.value;
}
