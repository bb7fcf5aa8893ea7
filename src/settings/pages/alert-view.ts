import { html } from 'hono/html';
import { toAlertDays } from '../../domain/alerts/alert-days.ts';
import { findAlertCause, findAlertText, isUnconfirmed } from '../../domain/alerts/alert-texts.ts';
import { listAlertSources } from '../../domain/alerts/new-failing-source.ts';
import { findRule } from '../../domain/alerts/registry.ts';
import { isDay, toDay, toInstant } from '../../domain/instant.ts';
import { parseIpAddress } from '../../domain/ip-address.ts';
import { formatDay } from '../../domain/text.ts';
import type { ListedAlert } from '../../store/alerts/alert-list.ts';
import { renderDomainName, renderText, renderTime } from '../frame/text.ts';
import { toSourcePath } from './sources/source-labels.ts';

/** Ten addresses fit in, and two long records. */
const MAX_TEXT = 1_500;

type ShownAlert = Pick<ListedAlert, 'domain_id' | 'fired_at' | 'resolved_at' | 'context'> & {
  readonly type: string;
  readonly domain?: string;
};

/** `said` is what stands above it already, with a link to all sources: it is not said twice. */
export function renderAlert(alert: ShownAlert, now: Date, said?: string) {
  const { type, domain, domain_id, fired_at, resolved_at, context } = alert;
  const { title, describe } = findAlertText(type);
  const head = html`${renderState(alert)} ${title}
    ${domain === undefined ? '' : html`on <a href="/settings/domains/${domain_id}">${renderDomainName(domain)}</a>`}`;
  const text = describe(context);
  const cause = findAlertCause(type, context)?.text ?? '';
  const isSaid = cause !== '' && said?.startsWith(cause);
  const body = html`<p>${renderText(isSaid ? text.slice(cause.length).trim() : text, MAX_TEXT)}</p>
    ${isSaid && listAlertSources(context).length === 0 ? '' : renderLinks(alert, now)}
    <p class="when">Fired ${renderTime(fired_at, now)}${resolved_at === null ? '' : html`, resolved ${renderTime(resolved_at, now)}; its figures are as known then`}</p>`;
  return isUnconfirmed(context)
    ? html`<li class="alert"><details><summary>${head}</summary>${body}</details></li>`
    : html`<li class="alert ${resolved_at === null ? 'open' : 'resolved'}"><h3>${head}</h3>${body}</li>`;
}

export function renderState({ resolved_at, context }: Pick<ShownAlert, 'resolved_at' | 'context'>) {
  const state = resolved_at === null ? 'Open' : 'Resolved';
  const isApart = isUnconfirmed(context);
  return html`<span class="badge ${resolved_at === null && !isApart ? 'warn' : ''}">${state}${isApart ? ', reported by nobody who is established' : ''}</span>`;
}

/** Links to the sources that caused an alert, in its own days, or to what reports say of TLS. */
export function renderLinks(alert: ShownAlert, now: Date) {
  const { type, resolved_at, context } = alert;
  const { since, day = since } = context;
  const link = findRule(type)?.link;
  if (link === 'tls')
    return html`<p><a href="/settings/domains/${alert.domain_id}#tls">See what failed, and who saw it</a></p>`;
  if (link !== 'sources' || typeof day !== 'string' || !isDay(day)) return '';
  const end = toDay(resolved_at ?? toInstant(now));
  const days = new URLSearchParams({ ...toAlertDays({ type, day, end }) });
  if (listAlertSources(context).length > 0) return renderSourceLinks(alert, days);
  return html`<p><a href="${toSourcePath(alert.domain_id)}?failing=1&${days}">See who failed from ${formatDay(day)} on</a></p>`;
}

function renderSourceLinks({ domain_id, context }: ShownAlert, days: URLSearchParams) {
  const links = listAlertSources(context).flatMap(({ ip, service }) => {
    const address = parseIpAddress(String(ip));
    if (address === undefined) return [];
    const name = typeof service === 'string' ? ` (${service})` : '';
    return html`<a href="${toSourcePath(domain_id, address)}?${days}">${address}</a>${name}`;
  });
  if (links.length === 0) return '';
  return html`<p>Look at ${links.map((link, i) => html`${i === 0 ? '' : ', '}${link}`)}.</p>`;
}
