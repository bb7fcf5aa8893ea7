import type { RequestHandler, Response } from 'express';
import { html } from 'hono/html';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { finishSignIn } from '../../store/people/pending-sign-ins.ts';
import { findTokenHolder, type TokenHolder } from '../../store/people/tokens.ts';
import { readCookie, setCookie } from '../cookies.ts';
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { renderTokenIfAny } from '../frame/forms.ts';
import { sendPage } from '../frame/page.ts';
import { readField, readQuery } from '../request.ts';
import { findCodeProof } from './code-proof.ts';
import { toOwnPage } from './own-page.ts';
import { browserOf } from './sign-in.ts';

const PATH = '/settings/sign-in/code';

/** Redirects to the first page of signing in when no sign-in waits for a code. */
export function requirePending({ store: { db }, now }: SettingsDeps): RequestHandler {
  return async (req, res, next) => {
    const token = readCookie(req, 'pending');
    const pending =
      token && (await findTokenHolder(db, 'pending_sign_in', { token, now: toInstant(now()) }));
    if (!pending) return res.redirect(303, '/settings/sign-in');
    res.locals['pending'] = pending;
    next();
  };
}

export function findPending(res: Response): TokenHolder | undefined {
  return res.locals['pending'] as TokenHolder | undefined;
}

/** Only valid after `requirePending`. */
function pendingOf(res: Response): TokenHolder {
  return findPending(res) as TokenHolder;
}

export const showCode: PageHandler = (_deps, req, res) => sendCode(res, readQuery(req, 'next'));

/** Opens the session when the code is right. A code works once. */
export const checkCode: PageHandler = async (deps, req, res) => {
  const next = readField(req, 'next');
  const session = await finish(deps, res);
  if (session === undefined) return await sendCode(res, next, true);
  setCookie(res, 'pending', '');
  setCookie(res, 'session', session);
  res.redirect(303, toOwnPage(next));
};

/** The new session's token; undefined for a wrong code, or one that was used already. */
async function finish(deps: SettingsDeps, res: Response) {
  const { store, now } = deps;
  const { req } = res;
  const pending = pendingOf(res);
  const code = await findCodeProof(deps, pending.personId, readField(req, 'code'));
  if (code === undefined) return undefined;
  const token = readCookie(req, 'pending') ?? '';
  const at = toInstant(now());
  const session = { ...pending, ...browserOf(req), now: at };
  try {
    return await finishSignIn(store.db, session, { token, code });
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'unauthorized') throw error;
    // The code may be wrong; or the sign-in ended meanwhile, and then another code does not help.
    const isPending = await findTokenHolder(store.db, 'pending_sign_in', { token, now: at });
    if (isPending === undefined) throw error;
    return undefined;
  }
}

async function sendCode(res: Response, next: string, isWrong = false): Promise<void> {
  const main = html`<section class="card">
    <h1>Your code</h1>
    ${isWrong ? html`<p class="wrong" role="alert">This code is wrong, or was used already.</p>` : ''}
    <form method="post" action="${PATH}">
      ${renderTokenIfAny(res)}
      <input type="hidden" name="next" value="${next}">
      <label for="code">Code of your authenticator app</label>
      <input id="code" name="code" required maxlength="40" autocomplete="one-time-code" autocapitalize="none"
        spellcheck="false" aria-describedby="code-help" ${isWrong ? html`aria-invalid="true"` : ''} autofocus>
      <small id="code-help">Six digits for <strong>${pendingOf(res).email}</strong>. Without the app, enter one of your recovery codes.</small>
      <button>Sign in</button>
    </form>
    <p class="muted"><a href="/settings/sign-in">Start again</a> as somebody else. Neither app nor recovery codes? The operator
      of this Plumbline can reset your second factor.</p>
  </section>`;
  await sendPage(res, { title: 'Sign in', status: isWrong ? 401 : 200, main });
}
