import { html } from 'hono/html';
import { MAX_PEOPLE_PER_ACCOUNT } from '../../domain/access/person.ts';
import type { Failure } from '../../domain/failure.ts';
import type { ListedPerson } from '../../store/people/people-overview.ts';
import { type Html, renderFormToken } from '../frame/page.ts';
import { renderText, renderTime, toCount } from '../frame/words.ts';
import type { Visitor } from '../visitor.ts';

const PATH = '/settings/people';

export interface MadeLink {
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
    <label for="link">Link</label>
    <div class="copyable">
      <textarea id="link" rows="2" readonly autocomplete="off" spellcheck="false">${url}</textarea>
      <button type="button" class="secondary" data-copy="link" aria-label="Copy: Link">Copy</button>
    </div>
  </section>`;
}

function renderInvitation({ visitor, refused }: PeoplePage): Html {
  const isWrong = refused !== undefined;
  return html`<section class="card" aria-labelledby="invite">
    <h2 id="invite">Invite a person</h2>
    <form method="post" action="${PATH}" autocomplete="off">
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
    <table class="people-table cards" role="table">
      <thead role="rowgroup"><tr role="row">
        <th role="columnheader" scope="col">Person</th><th role="columnheader" scope="col">Last sign-in</th>
        <th role="columnheader" scope="col">Sessions</th><th role="columnheader" scope="col">Second factor</th>
        <th role="columnheader" scope="col"><span class="unseen">Change</span></th>
      </tr></thead>
      <tbody role="rowgroup">${people.map((person) => renderPerson(person, visitor, now))}</tbody>
    </table>
  </section>`;
}

function renderPerson(person: ListedPerson, visitor: Visitor, now: Date): Html {
  const { email, lastSignedInAt, sessions, hasSecondFactor, isDisabled } = person;
  return html`<tr role="row" class="${isDisabled ? 'off' : 'on'}">
    <th role="rowheader" scope="row">${renderText(email, 254)} ${renderBadges(person, visitor)}</th>
    <td role="cell" data-label="Last sign-in">${lastSignedInAt === null ? 'never' : renderTime(lastSignedInAt, now)}</td>
    <td role="cell" data-label="Sessions">${toCount(sessions)}</td>
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
  const { id, isDisabled, isInvited, sessions } = person;
  if (id === visitor.personId) return html`<a href="/settings/security">Your sessions</a>`;
  const withdrawal = isInvited ? renderAction(person, visitor, ['withdraw', 'Withdraw']) : '';
  if (isDisabled) return html`${renderAction(person, visitor, ['enable', 'Enable'])} ${withdrawal}`;
  if (isInvited) return html`${renderAction(person, visitor, ['link', 'New link'])} ${withdrawal}`;
  return html`${sessions > 0 ? renderAction(person, visitor, ['sign-out', 'Sign out']) : ''}
    ${renderAction(person, visitor, ['disable', 'Disable'])}`;
}

function renderAction(
  { id, email }: ListedPerson,
  visitor: Visitor,
  [verb, text]: readonly [verb: string, text: string],
): Html {
  return html`<form method="post" action="${PATH}/${id}/${verb}">
    ${renderFormToken(visitor)}<button class="quiet" aria-label="${text}: ${email}">${text}</button>
  </form>`;
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
        ? html`<form method="post" action="${PATH}/second-factor">
            ${renderFormToken(visitor)}
            <input type="hidden" name="required" value="${isRequired ? 'no' : 'yes'}">
            <button class="secondary">${isRequired ? 'Make it optional' : 'Require it'}</button>
          </form>`
        : html`<p class="muted">To require it, <a href="/settings/second-factor">set up your own</a> first.</p>`
    }
  </section>`;
}
