import { html } from 'hono/html';
import { MAX_PEOPLE_PER_ACCOUNT } from '../../domain/access/person.ts';
import type { Failure } from '../../domain/failure.ts';
import type { ListedPerson } from '../../store/people/people-overview.ts';
import { renderTable } from '../frame/elements.ts';
import { renderAction, renderCopyable, renderFormToken } from '../frame/forms.ts';
import { formatCount, type Html, renderText, renderTime } from '../frame/text.ts';
import type { Visitor } from '../visitor.ts';

export const PEOPLE_PATH = '/settings/people';

interface MadeLink {
  readonly email: string;
  /** Shown this once. */
  readonly url: string;
}

export interface RefusedInvitation {
  readonly failure: Failure;
  readonly email: string;
}

interface PeoplePage {
  readonly visitor: Visitor;
  readonly people: readonly ListedPerson[];
  readonly isRequired: boolean;
  readonly link: MadeLink | undefined;
  readonly refused: RefusedInvitation | undefined;
  readonly now: Date;
}

export function renderPeople(page: PeoplePage): Html {
  const { link } = page;
  return html`<p class="trail">Settings / Account</p>
    <h1>People</h1>
    <p class="lead">Who can sign in and see this account. You are an owner: you invite people and disable them.</p>
    ${link === undefined ? '' : renderLink(link)}
    ${renderInvitation(page)}
    ${renderList(page)}
    ${renderRequirement(page)}`;
}

/** The only page that shows a link. */
function renderLink({ email, url }: MadeLink): Html {
  return html`<section class="card new-key" aria-labelledby="link-title" data-secret>
    <h2 id="link-title">Give this link to ${renderText(email, 254)}</h2>
    <p><strong>Copy it now: it will not be shown again.</strong> It works once, within 24 hours. Plumbline sends no mail: hand it
      over yourself, and to this person only, because anyone who has it can sign in.</p>
    ${renderCopyable({ id: 'link', label: 'Link', text: url, rows: 2 })}
  </section>`;
}

function renderInvitation({ visitor, refused }: PeoplePage): Html {
  const isWrong = refused !== undefined;
  return html`<section class="card" aria-labelledby="invite">
    <h2 id="invite">Invite a person</h2>
    <form method="post" action="${PEOPLE_PATH}" autocomplete="off">
      ${renderFormToken(visitor)}
      <label for="email">E-mail</label>
      <div class="beside">
        <input id="email" name="email" type="email" required maxlength="254" value="${refused?.email ?? ''}"
          aria-describedby="email-help" ${isWrong ? html`aria-invalid="true" autofocus` : ''}>
        <button>Invite</button>
      </div>
      <small id="email-help" ${isWrong ? html`role="alert"` : ''}>${
        refused?.failure.message ??
        'You get a link with which this person chooses a password. An invitation stays open until you withdraw it.'
      }</small>
    </form>
  </section>`;
}

function renderList({ people, visitor, now }: PeoplePage): Html {
  return html`<section class="card" aria-labelledby="list">
    <div class="beside">
      <h2 id="list">People</h2>
      <p class="muted">${people.length} of ${MAX_PEOPLE_PER_ACCOUNT}</p>
    </div>
    ${renderTable(
      'people-table cards',
      [
        ...['Person', 'Last sign-in', 'Sessions', 'Second factor'],
        html`<span class="unseen">Change</span>`,
      ],
      people.map((person) => renderPerson(person, visitor, now)),
    )}
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

function renderBadges({ id, role, isDisabled, isInvited }: ListedPerson, visitor: Visitor): Html {
  return html`<span class="badges">${id === visitor.personId ? html`<span class="badge good">You</span>` : ''}
    ${role === 'owner' ? html`<span class="badge">Owner</span>` : ''}
    ${isDisabled ? html`<span class="badge warn">Disabled</span>` : ''}
    ${isInvited && !isDisabled ? html`<span class="badge">Invited</span>` : ''}</span>`;
}

function renderActions(person: ListedPerson, visitor: Visitor): Html | string {
  const { id, email, isDisabled, isInvited, sessions } = person;
  if (id === visitor.personId) return html`<a href="/settings/security">Your sessions</a>`;
  const action = (verb: string, text: string) =>
    renderAction(visitor, {
      path: `${PEOPLE_PATH}/${id}/${verb}`,
      text,
      look: 'quiet',
      label: `${text}: ${email}`,
    });
  const withdrawal = isInvited ? action('withdraw', 'Withdraw') : '';
  if (isDisabled) return html`${action('enable', 'Enable')} ${withdrawal}`;
  if (isInvited) return html`${action('link', 'New link')} ${withdrawal}`;
  return html`${sessions > 0 ? action('sign-out', 'Sign out') : ''} ${action('disable', 'Disable')}`;
}

function renderRequirement({ visitor, isRequired }: PeoplePage): Html {
  const hasOwn = visitor.secondFactorSince !== null;
  return html`<section class="card" aria-labelledby="factor">
    <div class="beside">
      <h2 id="factor">Second factor</h2>
      <span class="badge ${isRequired ? 'good' : ''}">${isRequired ? 'Required' : 'Optional'}</span>
    </div>
    <p>${
      isRequired
        ? 'People who sign in with a password have to set up a second factor before they see any other page.'
        : 'Everybody may set up a second factor. You can require it of people who sign in with a password.'
    } It is not required for single sign-on, whose provider asks for further factors.</p>
    ${
      isRequired || hasOwn
        ? html`<form method="post" action="${PEOPLE_PATH}/second-factor">
            ${renderFormToken(visitor)}
            <input type="hidden" name="required" value="${isRequired ? 'no' : 'yes'}">
            <button class="secondary">${isRequired ? 'Make it optional' : 'Require it'}</button>
          </form>`
        : html`<p class="muted">To require it, <a href="/settings/second-factor">set up your own</a> first.</p>`
    }
  </section>`;
}
