import { html } from 'hono/html';
import type { DoorOverview, InboxOverview } from '../../store/inbox/overview.ts';
import { type Html, pluralize, renderTime } from '../frame/text.ts';

const KINDS = {
  smtp: 'Mail to Plumbline (SMTP)',
  imap: 'A mailbox (IMAP)',
  folder: 'Files in a folder',
} as const;

/** How reports come in: nothing when they come by `plumbline ingest` alone. */
export function renderInbox({ doors, waiting, stuck }: InboxOverview, now: Date): Html | '' {
  if (doors.length === 0) return '';
  return html`<section class="card" aria-labelledby="inbox">
    <h2 id="inbox">How reports come in</h2>
    <table class="cards" role="table">
      <thead role="rowgroup"><tr role="row">
        <th role="columnheader" scope="col">Door</th>
        <th role="columnheader" scope="col">Last mail or file</th>
        <th role="columnheader" scope="col">State</th>
      </tr></thead>
      <tbody role="rowgroup">${doors.map((door) => renderDoor(door, now))}</tbody>
    </table>
    <p class="muted">${pluralize(waiting, 'mail')} to be read.${
      stuck === 0 ? '' : ` ${pluralize(stuck, 'mail')} cannot be read: tell the operator.`
    }</p>
  </section>`;
}

function renderDoor({ kind, lastMailAt, failsSince }: DoorOverview, now: Date): Html {
  return html`<tr role="row">
    <th role="rowheader" scope="row">${KINDS[kind]}</th>
    <td role="cell" data-label="Last mail or file">${lastMailAt === null ? 'none yet' : renderTime(lastMailAt, now)}</td>
    <td role="cell" data-label="State">${
      failsSince === null
        ? html`<span class="badge good">Works</span>`
        : html`<span class="badge">Fails</span> since ${renderTime(failsSince, now)}: tell the operator`
    }</td>
  </tr>`;
}
