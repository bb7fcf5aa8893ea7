import { html } from 'hono/html';
import { toSendersQuery } from '../../../domain/next-step-texts.ts';
import { failedOf } from '../../../domain/pass-rate.ts';
import { formatCount, MAX_TITLE, pluralize } from '../../../domain/text.ts';
import type { SenderMail } from '../../../judging/sender-mail.ts';
import { renderTable } from '../../frame/elements.ts';
import { type Html, renderText } from '../../frame/text.ts';
import { toSourcePath } from './source-labels.ts';
import { renderVerdict } from './verdict-view.ts';

const SHOWN = 8;

/** Whose messages a policy would stop, with the verdict on each sender: most failed messages first. */
export function renderStoppedSenders(senders: readonly SenderMail[], domainId: string): Html | '' {
  const failing = senders.filter((one) => failedOf(one) > 0);
  if (failing.length === 0) return '';
  const more = failing.length - SHOWN;
  return html`<h3>Whose messages would be stopped</h3>
    ${renderTable(
      'cards readiness',
      ['Sender', ['Would be stopped', 'number']],
      failing.slice(0, SHOWN).map((one) => renderSender(one, domainId)),
    )}
    ${more > 0 ? html`<p class="muted">${pluralize(more, 'sender')} with fewer messages ${more === 1 ? 'is' : 'are'} not listed here.</p>` : ''}`;
}

function renderSender({ sender, sources, ...counts }: SenderMail, domainId: string): Html {
  const path = `${toSourcePath(domainId)}?${toSendersQuery({ within: sender.key })}`;
  return html`<tr role="row">
    <th role="rowheader" scope="row"><a href="${path}">${renderText(sender.title, MAX_TITLE)}</a> ${renderVerdict(sender.verdict)}${sources === 1 ? '' : html` <small>${pluralize(sources, 'source')}</small>`}</th>
    <td role="cell" class="number" data-label="Would be stopped">${formatCount(failedOf(counts))}</td>
  </tr>`;
}
