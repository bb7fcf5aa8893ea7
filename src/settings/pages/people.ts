import type { Response } from 'express';
import { html } from 'hono/html';
import { toEmailKey } from '../../domain/access/person.ts';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { invitePerson } from '../../store/people/new-people.ts';
import { insertOneTimeLink } from '../../store/people/passwords.ts';
import {
  findPerson,
  listPeople,
  listPeopleOverview,
  updateSecondFactorRequired,
} from '../../store/people/people.ts';
import { deletePerson, endSessionsOf, updateDisabled } from '../../store/people/person-changes.ts';
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { statusOf } from '../errors.ts';
import { renderCopyable, renderFolded, renderFormToken } from '../frame/forms.ts';
import { sendPage } from '../frame/page.ts';
import { type Html, renderText } from '../frame/text.ts';
import { baseUrlOf, idOf, readField } from '../request.ts';
import { actorOf, onForm, type Visitor, visitorOf } from '../visitor.ts';
import { PATH, renderPeople } from './people-list.ts';

export const showPeople: PageHandler = (deps, _req, res) => sendPeople(deps, res);

/** Adds a person. Without mail the answer itself shows their link, of which only the hash is stored. */
export const invite: PageHandler = async (deps, req, res) => {
  const email = readField(req, 'email');
  const by = actorOf(res, deps);
  const person = { accountId: by.accountId, email, now: by.at };
  try {
    const { email: invited, token } = await invitePerson(deps.store.db, person, by);
    await sendPeople(deps, res, { link: { email: invited, token } });
  } catch (error) {
    if (!(error instanceof Failure) || !REFUSALS.includes(error.code)) throw error;
    const people = await listPeople(deps.store.db, by.accountId);
    const isOwn = people.some((one) => one.email === toEmailKey(email));
    const failure = hideOwner(error, isOwn);
    await sendPeople(deps, res, { refused: { failure, email } });
  }
};

const REFUSALS: readonly string[] = ['validation_error', 'conflict', 'limit_reached'];

/** An owner must not learn which addresses other accounts have. Their own people are on the page. */
function hideOwner(failure: Failure, isOwn: boolean): Failure {
  if (failure.code !== 'conflict') return failure;
  const message = isOwn
    ? 'This person is in the list below. Somebody who is invited and lost the link gets a new one there.'
    : 'This address cannot be invited: somebody has it already. The operator of this Plumbline can help.';
  return new Failure('conflict', message);
}

/** Shows a new link for a person who has not chosen a password yet. */
export const renewLink: PageHandler = async (deps, req, res) => {
  const by = actorOf(res, deps);
  const token = await insertOneTimeLink(deps.store.db, idOf(req), by.at, by);
  const { email } = await findPerson(deps.store.db, idOf(req));
  await sendPeople(deps, res, { link: { email, token } });
};

/** Frees the address of a person who has neither a password nor single sign-on. */
export const withdraw = onForm(PATH, async ({ db, req, by }) => {
  const { email } = await deletePerson(db, idOf(req), by);
  return `The invitation of ${email} is withdrawn.`;
});

export const enablePerson = onForm(PATH, async ({ db, req, by }) => {
  const { email } = await updateDisabled(db, idOf(req), false, by);
  return `${email} can sign in again.`;
});

export const disablePerson = onForm(PATH, async ({ db, req, by }) => {
  const { email } = await updateDisabled(db, idOf(req), true, by);
  return `${email} is disabled, and signed out everywhere.`;
});

/** Who ends their own sessions is signed out: the next page asks them to sign in. */
export const signOutPerson = onForm(PATH, async ({ db, req, by }) => {
  const { email } = await endSessionsOf(db, idOf(req), by);
  return `${email} is signed out everywhere.`;
});

/** Applies to everybody who signs in with a password. */
export const requireFactor = onForm(PATH, async ({ db, req, by }) => {
  const isRequired = readField(req, 'required') === 'yes';
  await updateSecondFactorRequired(db, by.accountId, isRequired, by);
  return isRequired ? 'A second factor is required.' : 'A second factor is optional.';
});

interface RefusedInvitation {
  readonly failure: Failure;
  readonly email: string;
}

async function sendPeople(
  deps: SettingsDeps,
  res: Response,
  { link, refused }: { link?: { email: string; token: string }; refused?: RefusedInvitation } = {},
): Promise<void> {
  const visitor = visitorOf(res);
  const { db } = deps.store;
  const now = deps.now();
  const people = await listPeopleOverview(db, visitor.accountId, toInstant(now));
  const welcome = `${baseUrlOf(deps, res.req)}/settings/welcome`;
  const main = html`<p class="trail">Settings / Account</p>
    <h1>People</h1>
    <p class="lead">Who can sign in and see this account. You are an owner: you invite people and disable them.</p>
    ${link === undefined ? '' : renderLink(deps, link.email, `${welcome}?link=${link.token}`)}
    ${renderPeople(people, visitor, now)}
    ${renderInvitation(deps, visitor, refused)}
    ${renderRequirement(visitor)}`;
  const status = refused === undefined ? 200 : statusOf(refused.failure, res.req);
  await sendPage(res, { title: 'People', current: 'people', status, main });
}

/** A link that is mailed is not shown: the person's mailbox then proves who uses it. No other page shows a link. */
function renderLink({ mailServer }: SettingsDeps, email: string, url: string): Html {
  if (mailServer !== undefined)
    return html`<section class="card new-key" role="status">
      <p>${renderText(email, 254)} gets a mail with a link. It works once, within 24 hours.</p>
    </section>`;
  return html`<section class="card new-key" aria-labelledby="link-title" data-secret>
    <h2 id="link-title">Give this link to ${renderText(email, 254)}</h2>
    <p><strong>Copy it now: it will not be shown again.</strong> It works once, within 24 hours. Hand it
      over yourself, and to this person only, because anyone who has it can sign in.</p>
    ${renderCopyable({ id: 'link', label: 'Link', text: url, rows: 2 })}
  </section>`;
}

function renderInvitation(
  { mailServer }: SettingsDeps,
  visitor: Visitor,
  refused: RefusedInvitation | undefined,
): Html {
  const isWrong = refused !== undefined;
  const form = html`<form method="post" action="${PATH}" autocomplete="off">
      ${renderFormToken(visitor)}
      <label for="email">E-mail</label>
      <div class="beside">
        <input id="email" name="email" type="email" required maxlength="254" value="${refused?.email ?? ''}"
          aria-describedby="email-help" ${isWrong ? html`aria-invalid="true" autofocus` : ''}>
        <button>Invite</button>
      </div>
      <small id="email-help" ${isWrong ? html`role="alert"` : ''}>${
        refused?.failure.message ??
        `${mailServer ? 'This person gets a mail with a link to choose a password' : 'You get a link with which this person chooses a password'}. An invitation stays open until you withdraw it.`
      }</small>
    </form>`;
  return renderFolded('Invite a person', isWrong, form);
}

function renderRequirement(visitor: Visitor): Html {
  const isRequired = visitor.secondFactorRequired === 1;
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
