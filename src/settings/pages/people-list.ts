import { html } from 'hono/html';
import { MAX_PEOPLE_PER_ACCOUNT } from '../../domain/access/person.ts';
import { formatCount, toSafeText } from '../../domain/text.ts';
import type { ListedPerson } from '../../store/people/people.ts';
import { renderTable } from '../frame/elements.ts';
import { renderAction } from '../frame/forms.ts';
import { type Html, renderText, renderTime } from '../frame/text.ts';
import type { Visitor } from '../visitor.ts';

export const PATH = '/settings/people';

const CHANGE = html`<span class="unseen">Change</span>`;
const HEADS = ['Person', 'Last sign-in', 'Sessions', 'Second factor', CHANGE];

export function renderPeople(people: readonly ListedPerson[], visitor: Visitor, now: Date): Html {
  const rows = people.map((person) => renderPerson(person, visitor, now));
  return html`<section class="card" aria-labelledby="list">
    <div class="beside">
      <h2 id="list">People</h2>
      <p class="muted">${people.length} of ${MAX_PEOPLE_PER_ACCOUNT}</p>
    </div>
    ${renderTable('people-table cards', HEADS, rows)}
  </section>`;
}

function renderPerson(person: ListedPerson, visitor: Visitor, now: Date): Html {
  const { email, lastSignedInAt, sessions, hasSecondFactor, isDisabled } = person;
  return html`<tr role="row" class="${isDisabled ? 'off' : 'on'}">
    <th role="rowheader" scope="row">${renderText(email, 254)} ${renderBadges(person, visitor)}</th>
    <td role="cell" data-label="Last sign-in">${lastSignedInAt === null ? 'never' : renderTime(lastSignedInAt, now)}</td>
    <td role="cell" data-label="Sessions">${formatCount(sessions)}</td>
    <td role="cell" data-label="Second factor">${hasSecondFactor ? html`<span class="badge good">On</span>` : 'off'}</td>
    <td role="cell" class="actions">${renderActions(person, visitor)}</td>
  </tr>`;
}

function renderBadges(person: ListedPerson, visitor: Visitor): Html {
  const { id, role, isDisabled, isInvited, refusal } = person;
  return html`<span class="badges">${id === visitor.personId ? html`<span class="badge good">You</span>` : ''}
    ${role === 'owner' ? html`<span class="badge">Owner</span>` : ''}
    ${isDisabled ? html`<span class="badge warn">Disabled</span>` : ''}
    ${isInvited && !isDisabled ? html`<span class="badge">Invited</span>` : ''}
    ${refusal === null ? '' : html`<span class="badge warn" title="${toSafeText(refusal)}">Mail refused</span>`}</span>`;
}

function renderActions(person: ListedPerson, visitor: Visitor): Html | string {
  const { id, email, isDisabled, isInvited, sessions } = person;
  if (id === visitor.personId) return html`<a href="/settings/security">Your sessions</a>`;
  const action = (verb: string, text: string) => {
    const path = `${PATH}/${id}/${verb}`;
    return renderAction(visitor, { path, text, look: 'quiet', label: `${text}: ${email}` });
  };
  const withdrawal = isInvited ? action('withdraw', 'Withdraw') : '';
  if (isDisabled) return html`${action('enable', 'Enable')} ${withdrawal}`;
  if (isInvited) return html`${action('link', 'New link')} ${withdrawal}`;
  return html`${sessions > 0 ? action('sign-out', 'Sign out') : ''} ${action('disable', 'Disable')}`;
}
