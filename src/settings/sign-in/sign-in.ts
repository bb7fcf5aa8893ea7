import type { Request, Response } from 'express';
import { html } from 'hono/html';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { insertPendingSignIn } from '../../store/people/pending-sign-ins.ts';
import { findSecondFactor } from '../../store/people/second-factors.ts';
import {
  deleteSessionOf,
  insertSession,
  type NewSession,
  type Proof,
} from '../../store/people/sessions.ts';
import { readCookie, setCookie } from '../cookies.ts';
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { renderTokenIfAny } from '../frame/forms.ts';
import { sendPage } from '../frame/page.ts';
import type { Html } from '../frame/text.ts';
import { addressOf, readField, readQuery } from '../request.ts';
import { findVisitor } from '../visitor.ts';
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
  await letIn(deps, req, res, { ...person, next: toOwnPage(next) });
};

/** Opens a session for a person whose password is right, or asks for the code of their second factor first. */
export async function letIn(
  deps: SettingsDeps,
  req: Request,
  res: Response,
  {
    next,
    passwordHash,
    ...person
  }: { personId: string; passwordHash: string; next: string; notice?: string },
): Promise<void> {
  const { db } = deps.store;
  const proof = { password_hash: passwordHash };
  const factor = await findSecondFactor(db, person.personId);
  if (factor === undefined || factor.confirmedAt === null) {
    await openSession(deps, req, res, { ...person, proof });
    return res.redirect(303, next);
  }
  await askForCode(deps, req, res, { personId: person.personId, proof, next });
}

/** Leads a person who has proved the first factor to the page that asks for the second. */
export async function askForCode(
  { store: { db }, now }: SettingsDeps,
  req: Request,
  res: Response,
  { next, ...person }: { personId: string; proof: Proof; subject?: string; next: string },
): Promise<void> {
  const token = await insertPendingSignIn(db, { ...person, now: toInstant(now()) });
  setCookie(req, res, 'pending', token);
  res.redirect(303, `${CODE_PAGE}?next=${encodeURIComponent(next)}`);
}

/** Always a new session with a new token. The browser's former session ends. */
export async function openSession(
  { store: { db }, now }: SettingsDeps,
  req: Request,
  res: Response,
  person: Pick<NewSession, 'personId' | 'proof' | 'isFactorDone' | 'notice'>,
): Promise<void> {
  const token = await insertSession(db, {
    ...person,
    ...browserOf(req),
    now: toInstant(now()),
  });
  setCookie(req, res, 'session', token);
}

export function browserOf(req: Request) {
  const userAgent = req.headers['user-agent'] ?? '';
  return { before: readCookie(req, 'session'), address: addressOf(req), userAgent };
}

export const signOut: PageHandler = async ({ store: { db } }, req, res) => {
  const token = readCookie(req, 'session');
  // Deleted only after the session has ended: otherwise the session could stay open unnoticed.
  if (token !== undefined) await deleteSessionOf(db, token).catch(failStillSignedIn);
  setCookie(req, res, 'session', '');
  res.redirect(303, '/settings/sign-in');
};

function failStillSignedIn(error: unknown): never {
  if (!(error instanceof Failure) || error.code !== 'unavailable') throw error;
  const message = 'You are still signed in: your session could not be ended. Please try again.';
  throw new Failure('unavailable', message);
}

interface Attempt {
  readonly next: string;
  readonly email?: string;
  readonly isWrong?: boolean;
  /** Why the person has to sign in again. */
  readonly ended?: string | undefined;
}

async function sendSignIn(deps: SettingsDeps, res: Response, attempt: Attempt): Promise<void> {
  const status = attempt.isWrong ? 401 : 200;
  const main = renderSignIn(attempt, deps, renderTokenIfAny(res));
  await sendPage(res, { title: 'Sign in', status, main });
}

function renderSignIn(
  { next, email = '', isWrong = false, ended }: Attempt,
  { singleSignOn, mailServer }: SettingsDeps,
  token: Html | '',
): Html {
  return html`<section class="card">
    <h1>Sign in</h1>
    ${ended ? html`<p role="status">${ended}</p>` : ''}
    ${isWrong ? html`<p class="wrong" role="alert">The e-mail address or the password is wrong.</p>` : ''}
    <form method="post" action="/settings/sign-in">
      ${token}
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
}
