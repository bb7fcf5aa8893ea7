import type { RequestHandler, Response } from 'express';
import { html } from 'hono/html';
import { isPassword } from '../../domain/access/password.ts';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { updatePassword } from '../../store/people/passwords.ts';
import { findCredentials } from '../../store/people/people.ts';
import {
  deleteOtherSessions,
  deleteSession,
  listSessions,
  type SessionRow,
} from '../../store/people/sessions.ts';
import { readField } from '../form.ts';
import { type Html, renderFormToken, sendPage } from '../frame/page.ts';
import { toBrowser } from '../frame/user-agent.ts';
import { renderTime, toCounted } from '../frame/words.ts';
import type { Given } from '../given.ts';
import { readNewHash, renderNewPassword } from '../sign-in/new-password.ts';
import { openSession } from '../sign-in/sign-in.ts';
import { addressOf, leaveNotice, type Visitor, visitorOf } from '../visitor.ts';

const PATH = '/settings/security';

/** The field of the password form that was rejected, and the error. */
interface Problem {
  readonly field: 'current' | 'new';
  readonly failure: Failure;
}

export function showSecurity(given: Given): RequestHandler {
  return async (_req, res) => await sendSecurity(given, res);
}

/** All sessions opened with the old password end. The person continues in a new session. */
export function changePassword(given: Given): RequestHandler {
  return async (req, res) => {
    const { db } = given.store;
    const { email, personId, id: sessionId } = visitorOf(res);
    const known = await findCredentials(db, email);
    const current = known?.passwordHash ?? null;
    if (!(await isPassword(readField(req, 'current'), current)) || current === null) {
      const failure = new Failure('validation_error', 'This is not your password.');
      return await sendSecurity(given, res, { field: 'current', failure });
    }
    const passwordHash = await readNewHash(req);
    if (passwordHash instanceof Failure) {
      return await sendSecurity(given, res, { field: 'new', failure: passwordHash });
    }
    const at = { now: toInstant(given.now()), address: addressOf(req) };
    const proof = { replaced: current, sessionId };
    await updatePassword(db, personId, { passwordHash, ...proof, ...at });
    const person = { personId, proof: { password_hash: passwordHash }, isFactorDone: true };
    await openSession(given, req, res, { ...person, notice: 'Your password is changed.' });
    res.redirect(303, PATH);
  };
}

export function endSession(given: Given): RequestHandler {
  return async (req, res) => {
    const { personId } = visitorOf(res);
    const id = String(req.params['id']);
    await deleteSession(given.store.db, personId, id).catch(sayStillOpen);
    await goBack(given, res, 'The session has ended.');
  };
}

export function endOtherSessions(given: Given): RequestHandler {
  return async (_req, res) => {
    const ended = await deleteOtherSessions(given.store.db, visitorOf(res)).catch(sayStillOpen);
    await goBack(given, res, `${toCounted(ended, 'other session')} ended.`);
  };
}

function sayStillOpen(error: unknown): never {
  if (!(error instanceof Failure) || error.code !== 'unavailable') throw error;
  throw new Failure('unavailable', 'No session was ended: all are still open. Please try again.');
}

async function goBack(given: Given, res: Response, notice: string): Promise<void> {
  await leaveNotice(given, res, notice);
  res.redirect(303, PATH);
}

async function sendSecurity(given: Given, res: Response, problem?: Problem): Promise<void> {
  const visitor = visitorOf(res);
  const now = given.now();
  const sessions = await listSessions(given.store.db, visitor.personId, toInstant(now));
  const main = html`<p class="trail">Settings / Account</p>
    <h1>Sign-in &amp; sessions</h1>
    ${renderSessions(sessions, visitor, now)}
    ${renderFactor(visitor)}
    ${renderPassword(visitor, problem)}`;
  const status = problem === undefined ? 200 : 422;
  await sendPage(res, { title: 'Sign-in & sessions', place: 'security', status, main });
}

function renderSessions(sessions: readonly SessionRow[], visitor: Visitor, now: Date): Html {
  return html`<section class="card" aria-labelledby="sessions">
    <div class="beside">
      <h2 id="sessions">Where you are signed in</h2>
      ${sessions.length > 1 ? renderEnd('/others', 'Sign out everywhere else', visitor) : ''}
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
  return html`<li>
    <div>
      <strong title="${user_agent}">${toBrowser(user_agent)}</strong>
      <p class="muted">${address}, since ${renderTime(created_at, now)}, last seen ${renderTime(last_seen_at, now)}</p>
    </div>
    ${
      id === visitor.id
        ? html`<span class="badge good">This one</span>`
        : renderEnd(`/${id}`, 'Sign out', visitor)
    }
  </li>`;
}

function renderEnd(path: string, text: string, visitor: Visitor): Html {
  return html`<form method="post" action="${PATH}/sessions${path}">
    ${renderFormToken(visitor)}<button class="secondary">${text}</button>
  </form>`;
}

function renderPassword(visitor: Visitor, problem: Problem | undefined): Html {
  const wrong = problem?.field === 'current' ? problem.failure : undefined;
  return html`<section class="card" aria-labelledby="password">
    <h2 id="password">Change your password</h2>
    <form method="post" action="${PATH}/password" class="narrow">
      ${renderFormToken(visitor)}
      <input type="text" name="username" autocomplete="username" value="${visitor.email}" hidden>
      <label for="current">Current password</label>
      <input id="current" name="current" type="password" required autocomplete="current-password"
        ${wrong ? html`aria-invalid="true" aria-describedby="current-help" autofocus` : ''}>
      ${wrong ? html`<small id="current-help" role="alert">${wrong.message}</small>` : ''}
      ${renderNewPassword(problem?.field === 'new' ? problem.failure : undefined)}
      <button>Change password</button>
    </form>
    <p class="muted">You stay signed in here, and are signed out everywhere else.</p>
  </section>`;
}
