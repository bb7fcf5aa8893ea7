import type { Response } from 'express';
import { html } from 'hono/html';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { updatePassword } from '../../store/people/passwords.ts';
import { findTokenHolder } from '../../store/people/tokens.ts';
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { renderTokenIfAny, renderUsername } from '../frame/forms.ts';
import { sendPage } from '../frame/page.ts';
import { addressOf, readField, readQuery } from '../request.ts';
import { readNewHash, renderNewPassword } from './password.ts';
import { letIn } from './sign-in.ts';

/** The page of a one-time link, for an invitation or a forgotten password. Opening it changes nothing. */
export const showWelcome: PageHandler = (deps, req, res) =>
  sendWelcome(deps, res, readQuery(req, 'link'));

/** Uses the link: stores the person's new password, ends their other sessions, and opens one here. */
export const choosePassword: PageHandler = async (deps, req, res) => {
  const link = readField(req, 'link');
  const { personId } = await findHolder(deps, link);
  const passwordHash = await readNewHash(req);
  if (passwordHash instanceof Failure) return await sendWelcome(deps, res, link, passwordHash);
  const at = { now: toInstant(deps.now()), address: addressOf(req) };
  await updatePassword(deps.store.db, personId, { passwordHash, link, ...at });
  const person = { personId, passwordHash, notice: 'Your password is saved.' };
  await letIn(deps, res, { ...person, next: '/settings/overview' });
};

async function sendWelcome(deps: SettingsDeps, res: Response, link: string, problem?: Failure) {
  const { email } = await findHolder(deps, link);
  const main = html`<section class="card">
    <h1>Choose a password</h1>
    <p>for <strong>${email}</strong></p>
    <form method="post" action="/settings/welcome">
      ${renderTokenIfAny(res)}
      <input type="hidden" name="link" value="${link}">
      ${renderUsername(email)}
      ${renderNewPassword(problem)}
      <button>Save and sign in</button>
    </form>
  </section>`;
  await sendPage(res, { title: 'Choose a password', status: problem ? 422 : 200, main });
}

async function findHolder({ store, now }: SettingsDeps, link: string) {
  const query = { token: link, now: toInstant(now()) };
  const holder = await findTokenHolder(store.db, 'one_time_link', query);
  if (holder !== undefined) return holder;
  const message = 'This link was used already or withdrawn, or is older than 24 hours.';
  throw new Failure('not_found', message);
}
