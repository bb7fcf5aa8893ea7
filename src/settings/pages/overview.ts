import { html } from 'hono/html';
import { addUp } from '../../domain/alerts/rate.ts';
import { addDays, type Day, toDay, toInstant } from '../../domain/instant.ts';
import { findNextStep, type NextStep, WINDOW_DAYS } from '../../domain/next-step.ts';
import type { DomainRow } from '../../store/accounts/domains.ts';
import { listReportAddresses } from '../../store/accounts/mail-address.ts';
import { readOverview } from '../../store/accounts/overview.ts';
import type { AlertOfAccount } from '../../store/alerts/alerts.ts';
import {
  type DoorOverview,
  type InboxOverview,
  readInboxOverview,
} from '../../store/inbox/doors.ts';
import type { PageHandler } from '../deps.ts';
import { type ChartDay, type Column, toColumns } from '../frame/charts/columns.ts';
import { renderPages, renderTable } from '../frame/elements.ts';
import { sendPage } from '../frame/page.ts';
import {
  describePassed,
  formatDay,
  formatDomainName,
  formatPassRate,
  type Html,
  pluralize,
  renderDomainName,
  renderTime,
} from '../frame/text.ts';
import { readPageNumber } from '../request.ts';
import { visitorOf } from '../visitor.ts';
import { renderAlert } from './alert-view.ts';
import { renderNextStep } from './next-step-texts.ts';
import { renderProposals } from './proposals.ts';

const MAX_ALERTS = 10;
const DOMAINS_PER_PAGE = 25;
/** The month of a domain ends with its newest day, which may be this long ago. */
const READ_DAYS = 90;

type Read = Awaited<ReturnType<typeof readOverview>>;

export const showOverview: PageHandler = async (deps, req, res) => {
  const { store, now } = deps;
  const at = now();
  const visitor = visitorOf(res);
  const { accountId } = visitor;
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
    ${page === 1 ? renderProposals(read.proposals, visitor, at) : ''}
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

interface Summary {
  readonly domain: DomainRow;
  readonly newest: Day | null;
  /** Empty when the newest day is too long ago. */
  readonly columns: readonly Column[];
  readonly step: NextStep;
}

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
    const stated = days.get(domain.id)?.findLast(({ policy }) => policy !== null)?.policy;
    const confirmed = parseRecord(states.get(domain.id));
    const record = confirmed === undefined ? (stated ?? undefined) : confirmed;
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

function renderAlerts(alerts: readonly AlertOfAccount[], now: Date): Html {
  if (alerts.length === 0) {
    return html`<section class="card calm"><p>No alert is open. Those that have resolved are on the pages of their domains.</p></section>`;
  }
  return html`<section class="card" aria-labelledby="alerts">
    <h2 id="alerts">${pluralize(alerts.length, 'open alert')}${alerts.length === MAX_ALERTS ? ' (the latest)' : ''}</h2>
    <ul class="alerts">${alerts.map((alert) => renderAlert({ ...alert, context: JSON.parse(alert.context) }, now))}</ul>
  </section>`;
}

function renderDomains(rows: readonly Html[], hasOwnAddress: boolean): Html {
  if (rows.length === 0) return renderNoDomain(hasOwnAddress);
  return html`<section class="card" aria-labelledby="domains">
    <h2 id="domains">Domains</h2>
    ${renderTable('domains cards', ['Domain', `Pass rate, ${WINDOW_DAYS} days`, 'Next step'], rows)}
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

function renderDomain(
  { domain, newest, columns, step }: Summary,
  address: string | undefined,
  now: Date,
): Html {
  const { id, name, last_report_at } = domain;
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="/settings/domains/${id}">${renderDomainName(name)}</a>
      <p class="muted">${last_report_at === null ? 'No report yet' : html`Last report ${renderTime(last_report_at, now)}`}</p></th>
    <td role="cell">${columns.length > 0 ? renderRate(columns, name) : renderNoRate(newest)}</td>
    <td role="cell" class="step">${renderNextStep(step, { id, name, address })}</td>
  </tr>`;
}

function renderRate(columns: readonly Column[], name: string): Html {
  const text = formatPassRate(addUp(columns));
  return html`<span class="rate">${renderSparkline(columns, formatDomainName(name))}<b>${text}</b></span>`;
}

function renderNoRate(newest: Day | null): Html {
  if (newest === null) return html`<span class="muted none">–</span>`;
  return html`<span class="muted">The newest report is of ${formatDay(newest)}</span>`;
}

/** The least height of failures in a column, in hundredths, so that one in a thousand is visible. */
const MIN_FAILED = 4;

function renderSparkline(columns: readonly Column[], name: string): Html {
  const bars = columns.map(({ messages, aligned }, i) => {
    if (messages === 0) return renderBar('none', i, [96, 4]);
    const share = ((messages - aligned) / messages) * 100;
    const failed = aligned === messages ? 0 : Math.round(Math.max(MIN_FAILED, share) * 10) / 10;
    return html`${renderBar('failed', i, [0, failed])}${renderBar('passed', i, [failed, 100 - failed])}`;
  });
  const summary = `Pass rate of ${name}, ${columns.length} days: ${describePassed(addUp(columns))}`;
  return html`<svg class="spark" viewBox="0 0 ${columns.length} 100" preserveAspectRatio="none" role="img" aria-label="${summary}">${bars}</svg>`;
}

function renderBar(kind: string, i: number, [y, height]: readonly [number, number]): Html | '' {
  if (height <= 0) return '';
  return html`<rect class="${kind}" x="${i}" y="${y}" width="0.7" height="${height}"/>`;
}

const DOORS = {
  smtp: 'Mail to Plumbline (SMTP)',
  imap: 'A mailbox (IMAP)',
  folder: 'Files in a folder',
} as const;

/** Nothing when reports come by `plumbline ingest` alone. */
function renderInbox({ doors, waiting, stuck }: InboxOverview, now: Date): Html | '' {
  if (doors.length === 0) return '';
  return html`<section class="card" aria-labelledby="inbox">
    <h2 id="inbox">How reports come in</h2>
    ${renderTable(
      'cards',
      ['Door', 'Last mail or file', 'State'],
      doors.map((door) => renderDoor(door, now)),
    )}
    <p class="muted">${pluralize(waiting, 'mail')} to be read.${
      stuck === 0 ? '' : ` ${pluralize(stuck, 'mail')} cannot be read: tell the operator.`
    }</p>
  </section>`;
}

function renderDoor({ kind, lastMailAt, failing }: DoorOverview, now: Date): Html {
  return html`<tr role="row">
    <th role="rowheader" scope="row">${DOORS[kind]}</th>
    <td role="cell" data-label="Last mail or file">${lastMailAt === null ? 'none yet' : renderTime(lastMailAt, now)}</td>
    <td role="cell" data-label="State">${
      failing === undefined
        ? html`<span class="badge good">Works</span>`
        : html`<span class="badge">Fails</span>${failing.workedAt === null ? '' : html` since ${renderTime(failing.workedAt, now)}`}: tell the operator`
    }</td>
  </tr>`;
}
