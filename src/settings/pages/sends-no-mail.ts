import { html } from 'hono/html';
import { Failure } from '../../domain/failure.ts';
import { WINDOW_DAYS } from '../../domain/readiness.ts';
import { type DomainRow, updateSendsNoMail } from '../../store/domains/domains.ts';
import type { PageHandler } from '../deps.ts';
import { renderAction } from '../frame/forms.ts';
import type { Html } from '../frame/text.ts';
import { idOf, readField } from '../request.ts';
import { actorOf, redirectWithNotice, type Visitor } from '../visitor.ts';

export const changeSendsNoMail: PageHandler = async (deps, req, res) => {
  const said = readField(req, 'sends_no_mail');
  if (said !== 'yes' && said !== 'no')
    throw new Failure('validation_error', 'Say whether the domain sends no mail: yes or no.');
  const domainId = idOf(req);
  const sendsNoMail = said === 'yes';
  await updateSendsNoMail(deps.store.db, { domainId, sendsNoMail }, actorOf(res, deps));
  const notice = `You have said that this domain sends ${sendsNoMail ? 'no ' : ''}mail.`;
  await redirectWithNotice(deps, res, { path: `/settings/domains/${domainId}`, notice });
};

/** The switch on a domain's page: open where it is set, so that it is undone in one click, and where it is proposed. */
export function renderSendsNoMail(
  { id, sends_no_mail }: Pick<DomainRow, 'id' | 'sends_no_mail'>,
  visitor: Visitor,
  { isProposed }: { readonly isProposed: boolean },
): Html {
  const isSet = sends_no_mail === 1;
  const [said, text] = isSet ? ['no', 'It sends mail'] : ['yes', 'It sends no mail'];
  return html`<details class="card" id="sends-no-mail" ${isSet || isProposed ? html`open` : ''}>
    <summary>${isSet ? 'This domain sends no mail' : 'Does this domain send no mail?'}</summary>
    <p>${isSet ? SET : isProposed ? PROPOSED : 'If so, say it: then p=reject is right at once.'}</p>
    ${renderAction(visitor, { path: `/settings/domains/${id}/sends-no-mail`, fields: { sends_no_mail: said }, text, look: 'secondary' })}
  </details>`;
}

const SET = html`Whatever is sent in its name is forged, and p=reject is right.
  The <a href="/settings/audit?kind=domain">audit</a> has who said so, and when.`;
const PROPOSED = `No mail of this domain passed for ${WINDOW_DAYS} days. If it sends no mail, say so: then p=reject is right at once.`;
