import type { RequestHandler, Response } from 'express';
import { html } from 'hono/html';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { findLinkHolder } from '../../store/people/one-time-links.ts';
import { updatePassword } from '../../store/people/passwords.ts';
import { readField, readQuery } from '../form.ts';
import { renderTokenIfAny, sendPage } from '../frame/page.ts';
import type { Given } from '../given.ts';
import { addressOf } from '../visitor.ts';
import { readNewHash, renderNewPassword } from './new-password.ts';
import { letIn } from './sign-in.ts';

/** The page of a one-time link, for an invitation or a forgotten password. Opening it changes nothing. */
export function showWelcome(given: Given): RequestHandler {
  return async (req, res) => await sendWelcome(given, res, { link: readQuery(req, 'link') });
}

/** Uses the link: stores the person's new password, ends their other sessions, and opens one here. */
export function choosePassword(given: Given): RequestHandler {
  return async (req, res) => {
    const link = readField(req, 'link');
    const { personId } = await findHolder(given, link);
    const passwordHash = await readNewHash(req);
    if (passwordHash instanceof Failure) {
      return await sendWelcome(given, res, { link, problem: passwordHash });
    }
    const at = { now: toInstant(given.now()), address: addressOf(req) };
    await updatePassword(given.store.db, personId, { passwordHash, link, ...at });
    const person = { personId, passwordHash, notice: 'Your password is saved.' };
    await letIn(given, req, res, { ...person, next: '/settings/overview' });
  };
}

async function sendWelcome(
  given: Given,
  res: Response,
  { link, problem }: { link: string; problem?: Failure },
): Promise<void> {
  const { email } = await findHolder(given, link);
  const main = html`<section class="card">
    <h1>Choose a password</h1>
    <p>for <strong>${email}</strong></p>
    <form method="post" action="/settings/welcome">
      ${renderTokenIfAny(res)}
      <input type="hidden" name="link" value="${link}">
      <input type="text" name="username" autocomplete="username" value="${email}" hidden>
      ${renderNewPassword(problem)}
      <button>Save and sign in</button>
    </form>
  </section>`;
  await sendPage(res, { title: 'Choose a password', status: problem ? 422 : 200, main });
}

async function findHolder({ store, now }: Given, link: string) {
  const holder = await findLinkHolder(store.db, link, toInstant(now()));
  if (holder === undefined) {
    throw new Failure(
      'not_found',
      'This link was used already or withdrawn, or is older than 24 hours.',
    );
  }
  return holder;
}
