import { html } from 'hono/html';
import { pluralize } from '../../domain/text.ts';
import type { DoorOverview, InboxOverview } from '../../store/inbox/doors.ts';
import { renderTable } from '../frame/elements.ts';
import { type Html, renderTime } from '../frame/text.ts';

const DOORS = {
  smtp: 'Mail to Plumbline (SMTP)',
  imap: 'A mailbox (IMAP)',
  folder: 'Files in a folder',
  upload: 'Files uploaded here',
} as const;

/** Nothing when reports come by `plumbline ingest` alone. */
export function renderInbox({ doors, waiting, stuck }: InboxOverview, now: Date): Html | '' {
  if (doors.length === 0) return '';
  const rows = doors.map((door) => renderDoor(door, now));
  return html`<section class="card" aria-labelledby="inbox">
    <h2 id="inbox">How reports come in</h2>
    ${renderTable('cards', ['Way in', 'Last mail or file', 'State'], rows)}
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
