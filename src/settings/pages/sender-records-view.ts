import { html } from 'hono/html';
import { describeRecords } from '../../domain/dns/sender-record-texts.ts';
import {
  MAX_LOOKUPS,
  type SenderName,
  type ToldRecords,
  toSenderRecordName,
} from '../../domain/dns/sender-records.ts';
import { formatCount } from '../../domain/text.ts';
import { dailyCheckOf, toSenderRecords } from '../../store/alerts/daily-checks.ts';
import type { SettingsDeps } from '../deps.ts';
import { renderTable } from '../frame/elements.ts';
import { type Html, renderTime } from '../frame/text.ts';
import { renderFinding } from './domain-route.ts';

/** The section of a domain's page, once a check of the records of its senders counts. */
export async function renderSenderRecords(
  { store, now }: SettingsDeps,
  domainId: string,
): Promise<Html | ''> {
  const [row] = await store.reader.readAll(dailyCheckOf({ domainId, type: 'senders' }));
  const { checkedAt, ...records } = toSenderRecords(row);
  if (checkedAt === null) return '';
  const texts = describeRecords(records);
  const when = renderTime(checkedAt, now());
  const rows = [...records.spf.map(renderSpf), ...records.keys.map(renderKey)];
  return html`<section class="card" aria-labelledby="sender-records">
    <h2 id="sender-records">SPF and DKIM in DNS</h2>
    ${
      texts.length === 0
        ? html`<p class="muted">The SPF record and the keys that reports name had no fault ${when}.</p>`
        : html`<p>What DNS said ${when}, of the SPF record and of the keys that reports name:</p>
    <ul class="findings">${texts.map((text) => renderFinding({ ok: false, text }))}</ul>`
    }
    <details><summary>Records and keys</summary>${renderTable('cards', ['Name', 'In DNS'], rows)}</details>
  </section>`;
}

const renderSpf = ({ confirmed, ...name }: ToldRecords['spf'][number]) =>
  renderRow(
    name,
    confirmed && confirmed.record === null
      ? 'no SPF record that counts'
      : confirmed && `SPF, ${formatCount(confirmed.lookups)} of ${MAX_LOOKUPS} look-ups`,
  );

const renderKey = ({ confirmed, ...name }: ToldRecords['keys'][number]) =>
  renderRow(
    name,
    confirmed &&
      (confirmed.bits === null ? confirmed.state : `${formatCount(confirmed.bits)} bits`),
  );

const renderRow = (name: SenderName, found: string | null) => html`<tr role="row">
    <th role="rowheader" scope="row"><code>${toSenderRecordName(name)}</code></th>
    <td role="cell" data-label="In DNS">${found ?? 'not known yet'}</td>
  </tr>`;
