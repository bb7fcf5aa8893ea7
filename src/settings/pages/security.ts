import type { Response } from 'express';
import { html } from 'hono/html';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { pluralize } from '../../domain/text.ts';
import { updatePassword } from '../../store/people/passwords.ts';
import {
  deleteOtherSessions,
  deleteSession,
  listSessions,
  type SessionRow,
} from '../../store/people/sessions.ts';
import type { PageHandler, SettingsDeps } from '../deps.ts';
import { renderAction, renderField, renderFormToken, renderUsername } from '../frame/forms.ts';
import { sendPage } from '../frame/page.ts';
import { type Html, labelOf, renderTime } from '../frame/text.ts';
import { addressOf, idOf, readField } from '../request.ts';
import { findByPassword, readNewHash, renderNewPassword } from '../sign-in/password.ts';
import { openSession } from '../sign-in/sign-in.ts';
import { explainBusy, onForm, redirectWithNotice, type Visitor, visitorOf } from '../visitor.ts';

const PATH = '/settings/security';

interface PasswordProblem {
  readonly field: 'current' | 'new';
  readonly failure: Failure;
}

export const showSecurity: PageHandler = (deps, _req, res) => sendSecurity(deps, res);

/** All sessions opened with the old password end. The person continues in a new session. */
export const changePassword: PageHandler = async (deps, req, res) => {
  const { db } = deps.store;
  const { email, personId, id: sessionId } = visitorOf(res);
  const current = await findByPassword(deps, email, readField(req, 'current'));
  if (current === undefined) {
    const failure = new Failure('validation_error', 'This is not your password.');
    return await sendSecurity(deps, res, { field: 'current', failure });
  }
  const passwordHash = await readNewHash(req);
  if (passwordHash instanceof Failure)
    return await sendSecurity(deps, res, { field: 'new', failure: passwordHash });
  const at = { now: toInstant(deps.now()), address: addressOf(req) };
  const proof = { replaced: current.passwordHash, sessionId };
  await updatePassword(db, personId, { passwordHash, ...proof, ...at });
  const person = { personId, proof: { password_hash: passwordHash }, isFactorDone: true };
  await openSession(deps, res, { ...person, notice: 'Your password is changed.' });
  res.redirect(303, PATH);
};

const sayStillOpen = explainBusy('No session was ended: all are still open. Please try again.');

export const endSession = onForm(PATH, async ({ db, req, by }) => {
  await deleteSession(db, by.personId, idOf(req)).catch(sayStillOpen);
  return 'The session has ended.';
});

export const endOtherSessions: PageHandler = async (deps, _req, res) => {
  const ended = await deleteOtherSessions(deps.store.db, visitorOf(res)).catch(sayStillOpen);
  const notice = `${pluralize(ended, 'other session')} ended.`;
  await redirectWithNotice(deps, res, { path: PATH, notice });
};

async function sendSecurity(deps: SettingsDeps, res: Response, problem?: PasswordProblem) {
  const visitor = visitorOf(res);
  const now = deps.now();
  const sessions = await listSessions(deps.store.db, visitor.personId, toInstant(now));
  const main = html`<p class="trail">Settings / Account</p>
    <h1>Sign-in &amp; sessions</h1>
    ${renderSessions(sessions, visitor, now)}
    ${renderFactor(visitor)}
    ${renderPassword(visitor, problem)}`;
  const status = problem === undefined ? 200 : 422;
  await sendPage(res, { title: 'Sign-in & sessions', current: 'security', status, main });
}

function renderSessions(sessions: readonly SessionRow[], visitor: Visitor, now: Date): Html {
  return html`<section class="card" aria-labelledby="sessions">
    <div class="beside">
      <h2 id="sessions">Where you are signed in</h2>
      ${sessions.length > 1 ? renderAction(visitor, { path: `${PATH}/sessions/others`, text: 'Sign out everywhere else', look: 'secondary' }) : ''}
    </div>
    <ul class="sessions">${sessions.map((session) => renderSession(session, visitor, now))}</ul>
  </section>`;
}

function renderFactor({ secondFactorSince }: Visitor): Html {
  const isOn = secondFactorSince !== null;
  return html`<section class="card" aria-labelledby="factor">
    <div class="beside">
      <h2 id="factor">Second factor</h2>
      <span class="badge ${isOn ? 'good' : ''}">${isOn ? 'On' : 'Off'}</span>
    </div>
    <p>${isOn ? 'Your password asks for a code of your app.' : 'A stolen password alone then opens nothing.'}
      <a href="/settings/second-factor">${isOn ? 'Recovery codes, and turning it off' : 'Set up a second factor'}</a></p>
  </section>`;
}

function renderSession(session: SessionRow, visitor: Visitor, now: Date): Html {
  const { id, user_agent, address, created_at, last_seen_at } = session;
  const path = `${PATH}/sessions/${id}`;
  return html`<li>
    <div>
      <strong title="${user_agent}">${nameBrowser(user_agent)}</strong>
      <p class="muted">${address}, since ${renderTime(created_at, now)}, last seen ${renderTime(last_seen_at, now)}</p>
    </div>
    ${id === visitor.id ? html`<span class="badge good">This one</span>` : renderAction(visitor, { path, text: 'Sign out', look: 'secondary' })}
  </li>`;
}

function renderPassword(visitor: Visitor, problem: PasswordProblem | undefined): Html {
  return html`<section class="card" aria-labelledby="password">
    <h2 id="password">Change your password</h2>
    <form method="post" action="${PATH}/password" class="narrow">
      ${renderFormToken(visitor)}
      ${renderUsername(visitor.email)}
      ${renderField({
        id: 'current',
        label: 'Current password',
        attributes: html`type="password" required autocomplete="current-password"`,
        problem: problem?.field === 'current' ? problem.failure.message : undefined,
      })}
      ${renderNewPassword(problem?.field === 'new' ? problem.failure : undefined)}
      <button>Change password</button>
    </form>
    <p class="muted">You stay signed in here, and are signed out everywhere else.</p>
  </section>`;
}

/** Browsers whose user agent also names other browsers come first. */
const BROWSERS = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari', 'curl'];
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Macintosh', 'CrOS', 'Linux'];
const NAMES = { Edg: 'Edge', OPR: 'Opera', Macintosh: 'macOS', CrOS: 'ChromeOS' };

/** “Firefox on Windows”: enough to recognise one's own sessions. */
function nameBrowser(userAgent: string): string {
  const [browser, system] = [BROWSERS, SYSTEMS].map((tokens) =>
    tokens.find((token) => userAgent.includes(token)),
  );
  if (browser === undefined) return 'Unknown browser';
  const name = labelOf(NAMES, browser);
  return system === undefined ? name : `${name} on ${labelOf(NAMES, system)}`;
}
