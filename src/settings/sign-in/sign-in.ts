import type { Request, Response } from 'express';
import { html } from 'hono/html';
import { toInstant } from '../../domain/instant.ts';
import { insertPendingSignIn } from '../../store/people/pending-sign-ins.ts';
import { findSecondFactor } from '../../store/people/second-factors.ts';
import { deleteSessionOf, insertSession, type NewSession } from '../../store/people/sessions.ts';
import { readCookie, setCookie } from '../cookies.ts';
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { renderTokenIfAny } from '../frame/forms.ts';
import { sendPage } from '../frame/page.ts';
import { addressOf, readField, readQuery } from '../request.ts';
import { explainBusy, findVisitor } from '../visitor.ts';
import { hasLostForm } from './lost-form.ts';
import { HOME, toOwnPage } from './own-page.ts';
import { findByPassword } from './password.ts';

const CODE_PAGE = '/settings/sign-in/code';

export const showSignIn: PageHandler = async (deps, req, res) => {
  if (findVisitor(res) !== undefined) res.redirect(303, HOME);
  else await sendSignIn(deps, res, { next: readQuery(req, 'next'), ended: findEnded(req) });
};

/** A browser that has a session's cookie had a session. */
function findEnded(req: Request): string | undefined {
  if (hasLostForm(req))
    return 'Your session has ended, so the form was not sent. Sign in to send it again.';
  return readCookie(req, 'session') && 'Your session has ended. Sign in to go on where you were.';
}

/** One answer for every cause, after the same time, so that it does not show who has an account. */
export const signIn: PageHandler = async (deps, req, res) => {
  const [email, next] = [readField(req, 'email'), readField(req, 'next')];
  const person = await findByPassword(deps, email, readField(req, 'password'));
  if (person === undefined) return await sendSignIn(deps, res, { next, email, isWrong: true });
  await letIn(deps, res, { ...person, next: toOwnPage(next) });
};

/** Opens a session for a person whose password is right, or asks for the code of their second factor first. */
export async function letIn(
  deps: SettingsDeps,
  res: Response,
  known: { personId: string; passwordHash: string; next: string; notice?: string },
): Promise<void> {
  const { next, passwordHash, ...person } = known;
  const { db } = deps.store;
  const proof = { password_hash: passwordHash };
  const factor = await findSecondFactor(db, person.personId);
  if (factor === undefined || factor.confirmedAt === null) {
    await openSession(deps, res, { ...person, proof });
    return res.redirect(303, next);
  }
  await askForCode(deps, res, { personId: person.personId, proof, next });
}

/** Leads a person who has proved the first factor to the page that asks for the second. */
export async function askForCode(
  { store: { db }, now }: SettingsDeps,
  res: Response,
  { next, ...person }: Pick<NewSession, 'personId' | 'proof'> & { subject?: string; next: string },
): Promise<void> {
  const token = await insertPendingSignIn(db, { ...person, now: toInstant(now()) });
  setCookie(res, 'pending', token);
  res.redirect(303, `${CODE_PAGE}?next=${encodeURIComponent(next)}`);
}

/** Always a new session with a new token. The browser's former session ends. */
export async function openSession(
  { store: { db }, now }: SettingsDeps,
  res: Response,
  person: Pick<NewSession, 'personId' | 'proof' | 'isFactorDone' | 'notice'>,
): Promise<void> {
  const browser = browserOf(res.req);
  const token = await insertSession(db, { ...person, ...browser, now: toInstant(now()) });
  setCookie(res, 'session', token);
}

export function browserOf(req: Request) {
  const userAgent = req.headers['user-agent'] ?? '';
  return { before: readCookie(req, 'session'), address: addressOf(req), userAgent };
}

export const signOut: PageHandler = async ({ store: { db } }, req, res) => {
  const token = readCookie(req, 'session');
  // Deleted only after the session has ended: otherwise the session could stay open unnoticed.
  if (token !== undefined) await deleteSessionOf(db, token).catch(explainBusy(STILL_SIGNED_IN));
  setCookie(res, 'session', '');
  res.redirect(303, '/settings/sign-in');
};

const STILL_SIGNED_IN =
  'You are still signed in: your session could not be ended. Please try again.';

interface Attempt {
  readonly next: string;
  readonly email?: string;
  readonly isWrong?: boolean;
  /** Why the person has to sign in again. */
  readonly ended?: string | undefined;
}

async function sendSignIn(
  { singleSignOn, mailServer }: SettingsDeps,
  res: Response,
  { next, email = '', isWrong = false, ended }: Attempt,
): Promise<void> {
  const main = html`<section class="card">
    <h1>Sign in</h1>
    ${ended ? html`<p role="status">${ended}</p>` : ''}
    ${isWrong ? html`<p class="wrong" role="alert">The e-mail address or the password is wrong.</p>` : ''}
    <form method="post" action="/settings/sign-in">
      ${renderTokenIfAny(res)}
      <input type="hidden" name="next" value="${next}">
      <label for="email">E-mail</label>
      <input id="email" name="email" type="email" required autocomplete="username" value="${email}" ${isWrong ? '' : html`autofocus`}>
      <label for="password">Password</label>
      <input id="password" name="password" type="password" required autocomplete="current-password" ${isWrong ? html`autofocus` : ''}>
      <button>Sign in</button>
    </form>
    ${singleSignOn ? html`<a class="wide secondary" role="button" href="/settings/single-sign-on?next=${encodeURIComponent(next)}">Single sign-on</a>` : ''}
    <p class="muted">${
      mailServer
        ? html`<a href="/settings/forgotten">Forgot your password?</a>`
        : 'No password, or forgotten it? The operator of this Plumbline can send you a link.'
    }</p>
  </section>`;
  await sendPage(res, { title: 'Sign in', status: isWrong ? 401 : 200, main });
}
