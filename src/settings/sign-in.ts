import type { Request, RequestHandler, Response } from 'express';
import { html } from 'hono/html';
import { toInstant } from '../domain/instant.ts';
import { isPassword } from '../domain/password.ts';
import { findCredentials } from '../store/people.ts';
import { deleteSessionOf, insertSession } from '../store/sessions.ts';
import { clearSessionCookie, readSessionToken, setSessionCookie } from './cookies.ts';
import { readField, readQuery } from './form.ts';
import type { Given } from './given.ts';
import { type Html, sendPage } from './page.ts';
import { addressOf, findVisitor } from './visitor.ts';

const HOME = '/settings/overview';
/** Where somebody was going, when it is a page of ours; never a way to another site. */
const OWN_PAGE = /^\/settings(\/[a-z0-9-]+)+$/;

export const showSignIn: RequestHandler = async (req, res) => {
  if (findVisitor(res) !== undefined) res.redirect(303, HOME);
  else await sendSignIn(res, { next: readQuery(req, 'next') });
};

/** One answer for every cause, after the same time: nobody learns who has an account. */
export function signIn(given: Given): RequestHandler {
  return async (req, res) => {
    const [email, next] = [readField(req, 'email'), readField(req, 'next')];
    const person = await findCredentials(given.store.db, email);
    const isRight = await isPassword(readField(req, 'password'), person?.passwordHash ?? null);
    if (person === undefined || !isRight) {
      return await sendSignIn(res, { next, email, isWrong: true });
    }
    await openSession(given, req, res, person);
    res.redirect(303, OWN_PAGE.test(next) ? next : HOME);
  };
}

/** Always a new session with a new token; whatever the browser came with ends. */
export async function openSession(
  { store: { db }, now }: Given,
  req: Request,
  res: Response,
  person: { readonly personId: string; readonly notice?: string },
): Promise<void> {
  const before = readSessionToken(req);
  if (before !== undefined) await deleteSessionOf(db, before);
  const token = await insertSession(db, {
    ...person,
    address: addressOf(req),
    userAgent: req.headers['user-agent'] ?? '',
    now: toInstant(now()),
  });
  setSessionCookie(req, res, token);
}

export function signOut({ store: { db } }: Given): RequestHandler {
  return async (req, res) => {
    const token = readSessionToken(req);
    if (token !== undefined) await deleteSessionOf(db, token);
    clearSessionCookie(req, res);
    res.redirect(303, '/settings/sign-in');
  };
}

interface Attempt {
  readonly next: string;
  readonly email?: string;
  readonly isWrong?: boolean;
}

async function sendSignIn(res: Response, attempt: Attempt): Promise<void> {
  const status = attempt.isWrong ? 401 : 200;
  await sendPage(res, { title: 'Sign in', status, main: renderSignIn(attempt) });
}

function renderSignIn({ next, email = '', isWrong = false }: Attempt): Html {
  return html`<section class="card">
    <h1>Sign in</h1>
    ${isWrong ? html`<p class="wrong" role="alert">E-mail or password is not right.</p>` : ''}
    <form method="post" action="/settings/sign-in">
      <input type="hidden" name="next" value="${next}">
      <label for="email">E-mail</label>
      <input id="email" name="email" type="email" required autocomplete="username" value="${email}" ${isWrong ? '' : html`autofocus`}>
      <label for="password">Password</label>
      <input id="password" name="password" type="password" required autocomplete="current-password" ${isWrong ? html`autofocus` : ''}>
      <button>Sign in</button>
    </form>
    <p class="muted">No password, or a forgotten one? Whoever runs your Plumbline can send you a link.</p>
  </section>`;
}
