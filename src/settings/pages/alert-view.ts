import { html } from 'hono/html';
import { findAlertText, listSources } from '../../domain/alerts/alert-texts.ts';
import { addDays, type Day, isDay, toDay, toInstant } from '../../domain/instant.ts';
import { parseIpAddress } from '../../domain/ip-address.ts';
import { formatDay } from '../../domain/text.ts';
import type { ListedAlert } from '../../store/alerts/alert-list.ts';
import { type Html, renderDomainName, renderText, renderTime } from '../frame/text.ts';
import type { Senders } from './sources/service-groups.ts';
import { toSourcePath } from './sources/source-labels.ts';

/** Ten addresses fit in, and two long records. */
const MAX_TEXT = 1_500;

type ShownAlert = Pick<
  ListedAlert,
  'type' | 'domain_id' | 'fired_at' | 'resolved_at' | 'context'
> & { readonly domain?: string };

/** A page knows it when it has read the mail of the alert's days. */
export interface KnownMail {
  readonly cause?: Html | '';
  readonly toGroup?: Senders['toGroup'] | undefined;
}

export function renderAlert(alert: ShownAlert, now: Date, { cause = '', toGroup }: KnownMail = {}) {
  const { title, describe } = findAlertText(alert.type);
  const isOpen = alert.resolved_at === null;
  return html`<li class="alert ${isOpen ? 'open' : 'resolved'}">
    <h3>
      <span class="badge ${isOpen ? 'warn' : ''}">${isOpen ? 'Open' : 'Resolved'}</span>
      ${title}
      ${alert.domain !== undefined ? html`on <a href="/settings/domains/${alert.domain_id}">${renderDomainName(alert.domain)}</a>` : ''}
    </h3>
    <p>${renderText(describe(alert.context), MAX_TEXT)}</p>
    ${alert.type === 'alert.alignment_regression' ? cause : ''}
    ${renderLinks(alert, now, toGroup)}
    <p class="when">Fired ${renderTime(alert.fired_at, now)}${
      alert.resolved_at === null
        ? ''
        : html`, resolved ${renderTime(alert.resolved_at, now)}; its figures are as known then`
    }</p>
  </li>`;
}

/** Links to the sources that caused an alert, in its own days. */
export function renderLinks(alert: ShownAlert, now: Date, toGroup?: KnownMail['toGroup']) {
  if (alert.type === 'alert.new_failing_source') return renderSourceLinks(alert, toGroup);
  return alert.type === 'alert.alignment_regression' ? renderDaysLink(alert, now) : '';
}

/** Links to the sources that failed from the alert's day until it resolved: the names of sources are of a month. */
function renderDaysLink({ domain_id, resolved_at, context }: ShownAlert, now: Date) {
  const day = findDay(context);
  if (day === undefined) return '';
  const [first, last] = [toDay(resolved_at ?? toInstant(now)), addDays(day, LINKED_DAYS - 1)];
  const query = new URLSearchParams({ failing: '1', from: day, to: first < last ? first : last });
  return html`<p><a href="${toSourcePath(domain_id)}?${query}">See who failed from ${formatDay(day)} on</a></p>`;
}

function findDay({ day }: ShownAlert['context']): Day | undefined {
  return typeof day === 'string' && isDay(day) ? day : undefined;
}

/** The days that a link from an alert shows at most. */
const LINKED_DAYS = 30;

/** The sources that an alert names. */
export function listAddresses(context: ShownAlert['context']): string[] {
  const addresses = listSources(context).map(({ ip }) => parseIpAddress(String(ip)));
  return addresses.filter((address) => address !== undefined);
}

function renderSourceLinks({ domain_id, context }: ShownAlert, toGroup: KnownMail['toGroup']) {
  const day = findDay(context);
  const range = day === undefined ? '' : `?from=${addDays(day, 1 - LINKED_DAYS)}&to=${day}`;
  const addresses = listAddresses(context);
  if (addresses.length === 0) return '';
  const links = addresses.map((address, i) => {
    const service = toGroup?.(address).service?.name;
    return html`${i === 0 ? '' : ', '}<a href="${toSourcePath(domain_id, address)}${range}">${address}</a>${service === undefined ? '' : ` (${service})`}`;
  });
  return html`<p>Look at ${links}.</p>`;
}
