import { html } from 'hono/html';
import { isUnconfirmed } from '../../domain/alerts/alert-texts.ts';
import { EVENT_DAYS } from '../../domain/events.ts';
import { DAY_MS } from '../../domain/instant.ts';
import { formatCount } from '../../domain/text.ts';
import type { Told, ToldCount } from '../../store/notify/told.ts';
import type { SettingsDeps } from '../deps.ts';
import { renderTable } from '../frame/elements.ts';
import { type Html, renderText, renderTime } from '../frame/text.ts';

/* Who was told of alerts, by which way, and what became of it. */

const CHANNELS = { mail: 'by mail', webhook: 'by webhook' } as const;
const STATES = {
  delivered: 'told',
  waiting: 'not yet told',
  pending: 'not yet told',
  failed: 'failed',
  unwanted: 'not sent',
} as const;

interface FiredAlert {
  readonly fired_at: string;
}

/** Whether who was told is deleted by now. */
export function isForgotten({ fired_at }: FiredAlert, now: Date): boolean {
  return now.getTime() - Date.parse(fired_at) >= EVENT_DAYS * DAY_MS;
}

/** “2 told by mail, 1 failed by webhook”: a firing and a resolution are two. */
export function describeTold(told: readonly ToldCount[] = [], alert: FiredAlert, now: Date) {
  if (told.length === 0) return isForgotten(alert, now) ? 'No longer known' : 'Nobody';
  const texts = told.map(({ channel, state, count }) => {
    const number = state === 'pending' ? '' : `${formatCount(Number(count))} `;
    return `${number}${STATES[state]} ${CHANNELS[channel]}`;
  });
  return texts.sort().join(', ');
}

const EVENTS: Readonly<Record<string, string>> = {
  'alert.fired': 'Fired',
  'mail.alert_fired': 'Fired',
  'alert.resolved': 'Resolved',
  'mail.alert_resolved': 'Resolved',
};

/** Addresses are shown to owners alone. */
export function renderTold(told: readonly Told[], now: Date): Html {
  const rows = told.map(
    (one) => html`<tr role="row">
    <th role="rowheader" scope="row">${EVENTS[one.type]}</th>
    <td role="cell" data-label="Who">${renderReceiver(one)}</td>
    <td role="cell" data-label="Result" class="words">${STATES[one.state]} ${CHANNELS[one.channel]}${one.answer && one.state !== 'delivered' ? html` <small>${renderText(one.answer, 120)}</small>` : ''}</td>
    <td role="cell" data-label="When">${one.tried_at === null ? '–' : renderTime(one.tried_at, now)}</td>
  </tr>`,
  );
  return renderTable('cards', ['Of', 'Who', 'Result', 'When'], rows);
}

function renderReceiver({ email, url, webhookId, state }: Told): Html | string {
  if (email !== null) return renderText(email);
  if (url === null) return state === 'pending' ? 'Those who want it' : 'Somebody who was deleted';
  return html`<a href="/settings/integrations/webhooks/${webhookId}">${new URL(url).host}</a>`;
}

const NO_SERVER =
  'Mail is not configured here, so that nobody gets any: the operator of this Plumbline can name a mail server. No webhook wanted it either.';
const NOT_WANTED = 'Nobody of this account wanted mail about alerts, and no webhook wanted it.';

/** Why nobody was, and where that is changed. */
export function renderUntold(
  context: Readonly<Record<string, unknown>>,
  { mailServer }: Pick<SettingsDeps, 'mailServer'>,
): Html {
  const why = isUnconfirmed(context)
    ? 'People are told once an established reporter says the same.'
    : mailServer === undefined
      ? NO_SERVER
      : NOT_WANTED;
  return html`<p>${why} Choose <a href="/settings/mail">your mail</a>, or add <a href="/settings/integrations/webhooks">a webhook</a>.</p>`;
}
