import { html } from 'hono/html';
import { findAlertText, listSources } from '../../domain/alerts/alert-texts.ts';
import { addDays, isDay } from '../../domain/instant.ts';
import { parseIpAddress } from '../../domain/ip-address.ts';
import type { ListedAlert } from '../../store/alerts/alert-list.ts';
import { formatDay, type Html, renderDomainName, renderText, renderTime } from '../frame/text.ts';
import { toSourcePath } from './sources/source-labels.ts';

/** Ten addresses fit in, and two long records. */
const MAX_TEXT = 1_500;

type ShownAlert = Pick<
  ListedAlert,
  'type' | 'domain_id' | 'fired_at' | 'resolved_at' | 'context'
> & { readonly domain?: string };

export function renderAlert(alert: ShownAlert, now: Date): Html {
  const { title, describe } = findAlertText(alert.type);
  const isOpen = alert.resolved_at === null;
  return html`<li class="alert ${isOpen ? 'open' : 'resolved'}">
    <h3>
      <span class="badge ${isOpen ? 'warn' : ''}">${isOpen ? 'Open' : 'Resolved'}</span>
      ${title}
      ${alert.domain !== undefined ? html`on <a href="/settings/domains/${alert.domain_id}">${renderDomainName(alert.domain)}</a>` : ''}
    </h3>
    <p>${renderText(describe(alert.context), MAX_TEXT)}</p>
    ${alert.type === 'alert.new_failing_source' ? renderSourceLinks(alert) : ''}
    ${alert.type === 'alert.alignment_regression' ? renderDayLink(alert) : ''}
    <p class="when">Fired ${renderTime(alert.fired_at, now)}${
      alert.resolved_at === null
        ? ''
        : html`, resolved ${renderTime(alert.resolved_at, now)}; its figures are as known then`
    }</p>
  </li>`;
}

/** To the sources that failed on the day that the alert is about. */
function renderDayLink({ domain_id, context: { day } }: ShownAlert): Html | '' {
  if (typeof day !== 'string' || !isDay(day)) return '';
  return html`<p><a href="${toSourcePath(domain_id)}?failing=1&from=${day}&to=${day}">See who failed on ${formatDay(day)}</a></p>`;
}

/** The days that a link from an alert shows: the data days of a month, up to the alert's own day. */
const LINKED_DAYS = 30;

function renderSourceLinks({ domain_id, context }: ShownAlert): Html | '' {
  const { day } = context;
  const range =
    typeof day === 'string' && isDay(day) ? `?from=${addDays(day, 1 - LINKED_DAYS)}&to=${day}` : '';
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
