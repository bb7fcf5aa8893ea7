import { html } from 'hono/html';
import { type AlertType, isAlertType } from '../../domain/alerts/registry.ts';
import { addDays } from '../../domain/instant.ts';
import { parseIpAddress } from '../../domain/ip-address.ts';
import type { ListedAlert } from '../../store/alerts/alert-list.ts';
import {
  formatCount,
  formatDay,
  formatPercentage,
  formatTime,
  type Html,
  pluralize,
  renderDomainName,
  renderText,
  renderTime,
  toSafeText,
} from '../frame/text.ts';
import { toSourcePath } from './sources/source-labels.ts';

/** Ten addresses fit in, and two long records. */
const MAX_TEXT = 1_500;

const DAY = /^\d{4}-\d\d-\d\d$/;

type Context = Readonly<Record<string, unknown>>;

interface AlertText {
  readonly title: string;
  readonly describe: (context: Context) => string;
}

/** The title and text of each alert type (`Alert.type` in openapi/v1.yaml). A type without them does not compile. */
const TEXTS: Readonly<Record<AlertType, AlertText>> = {
  'alert.alignment_regression': { title: 'Alignment regression', describe: describeRegression },
  'alert.reports_missing': { title: 'Reports missing', describe: describeMissing },
  'alert.new_failing_source': { title: 'New failing source', describe: describeSource },
  'alert.dns_record_changed': { title: 'DNS record changed', describe: describeRecord },
  'alert.policy_weakened': { title: 'Policy weakened', describe: describePolicy },
};

export function renderAlert(alert: ListedAlert & { readonly domain?: string }, now: Date): Html {
  const { title, describe } = findText(alert.type);
  const isOpen = alert.resolved_at === null;
  return html`<li class="alert ${isOpen ? 'open' : 'resolved'}">
    <h3>
      <span class="badge ${isOpen ? 'warn' : ''}">${isOpen ? 'Open' : 'Resolved'}</span>
      ${title}
      ${alert.domain !== undefined ? html`on <a href="/settings/domains/${alert.domain_id}">${renderDomainName(alert.domain)}</a>` : ''}
    </h3>
    <p>${renderText(describe(alert.context), MAX_TEXT)}</p>
    ${alert.type === 'alert.new_failing_source' ? renderSourceLinks(alert) : ''}
    <p class="when">Fired ${renderTime(alert.fired_at, now)}${
      alert.resolved_at === null ? '' : html`, resolved ${renderTime(alert.resolved_at, now)}`
    }</p>
  </li>`;
}

/** The days that a link from an alert shows: the data days of a month, up to the alert's own day. */
const LINKED_DAYS = 30;

function renderSourceLinks({ domain_id, context }: ListedAlert): Html | '' {
  const { day } = context;
  const range =
    typeof day === 'string' && DAY.test(day)
      ? `?from=${addDays(day, 1 - LINKED_DAYS)}&to=${day}`
      : '';
  const addresses = listSources(context)
    .map(({ ip }) => (typeof ip === 'string' ? parseIpAddress(ip) : undefined))
    .filter((address) => address !== undefined);
  if (addresses.length === 0) return '';
  const links = addresses.map(
    (address, i) =>
      html`${i === 0 ? '' : ', '}<a href="${toSourcePath(domain_id, address)}${range}">${address}</a>`,
  );
  return html`<p>Look at ${links}.</p>`;
}

/** A type that this page does not know is its own title. */
export function findAlertTitle(type: string): string {
  return findText(type).title;
}

function findText(type: string): AlertText {
  return isAlertType(type) ? TEXTS[type] : { title: toSafeText(type), describe: describeContext };
}

function describeRegression(context: Context): string {
  const { day, message_count: messages, failed_count: failed } = context;
  const drop = formatNumber(context['drop_pct']);
  const [prev, curr] = ['prev_pass_rate', 'curr_pass_rate'].map((name) =>
    formatRate(context[name]),
  );
  const fall = `The pass rate fell by ${drop} points, from ${prev} to ${curr}.`;
  if (typeof messages !== 'number' || typeof failed !== 'number') return fall;
  const when = typeof day === 'string' ? ` on ${formatDay(day)}` : '';
  return `${fall} ${formatCount(failed)} of ${pluralize(messages, 'message')} failed${when}.`;
}

function describeMissing(context: Context): string {
  const last = context['last_report_at'];
  const since = typeof last === 'string' ? ` The last one came on ${formatTime(last)}.` : '';
  const average = formatNumber(context['previous_daily_average']);
  return `No report for ${formatNumber(context['hours_since_last_report'])} hours; before, ${average} came on an average day.${since}`;
}

function describeSource(context: Context): string {
  const sources = listSources(context);
  const more = Number(context['additional_sources'] ?? 0);
  const list = sources.map(
    ({ ip, failed_count }) => `${ip} (${formatNumber(failed_count)} failed)`,
  );
  if (more > 0) list.push(`${formatCount(more)} more`);
  return `${formatNumber(context['failed_count'])} of ${formatNumber(context['message_count'])} messages from addresses not seen before failed: ${list.join(', ')}.`;
}

function listSources({ sources }: Context): readonly Context[] {
  return Array.isArray(sources) ? (sources as Context[]) : [];
}

function describeRecord(context: Context): string {
  const record = `The ${context['record_type']} record at ${context['record_name']}`;
  const [before, after] = [context['previous_value'], context['current_value']];
  if (context['change'] === 'added') return `${record} was added: ${after}`;
  if (context['change'] === 'removed') return `${record} was removed. It was: ${before}`;
  return `${record} was changed from ${before} to ${after}`;
}

function describePolicy(context: Context): string {
  const [before, after] = [context['previous_policy'], context['current_policy']];
  return `The policy at ${context['record_name']} went from ${before} to ${after ?? 'absent'}.`;
}

/** The context of a type that this page does not know. */
function describeContext(context: Context): string {
  return Object.entries(context)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ');
}

function formatRate(value: unknown): string {
  return typeof value === 'number' ? formatPercentage(value) : '?';
}

function formatNumber(value: unknown): string {
  return typeof value === 'number' ? formatCount(value) : '?';
}
