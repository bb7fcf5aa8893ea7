import { createHmac } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { Failure } from '../domain/failure.ts';
import { toInstant } from '../domain/instant.ts';
import { SESSION_TOUCH_MS } from '../domain/lifetime.ts';
import type { Actor } from '../store/audit.ts';
import { findSession, type OpenSession, updateNotice, updateSeen } from '../store/sessions.ts';
import { readSessionToken } from './cookies.ts';
import type { Given } from './given.ts';

/** Somebody who is signed in, on one request. */
export interface Visitor extends OpenSession {
  /** What every form of theirs carries (forgery.ts). */
  readonly formToken: string;
}

/** Finds out who is there. Each request asks the store anew: a session that was ended is over at once. */
export function recogniseVisitor(given: Given): RequestHandler {
  const { store, now } = given;
  return async (req, res, next) => {
    const token = readSessionToken(req);
    const at = now();
    const session = token && (await findSession(store.reader, token, toInstant(at)));
    if (token && session) {
      res.locals['visitor'] = { ...session, formToken: toFormToken(token) };
      noteSeen(req, session, given);
    }
    next();
  };
}

/** Made from the session's token, which is kept nowhere: whoever reads the database cannot make it. */
function toFormToken(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('form').digest('base64url');
}

/**
 * Writes down that the session is in use, and that this page shows its notice. No page waits for it: while an
 * ingest holds the write lock, the worst is a notice that is shown twice.
 */
function noteSeen(req: Request, session: OpenSession, { store, now, logError }: Given): void {
  const { id, lastSeenAt, notice } = session;
  const at = now();
  const isOld = at.getTime() - Date.parse(lastSeenAt) >= SESSION_TOUCH_MS;
  const hasShownNotice = notice !== null && req.method === 'GET';
  if (!isOld && !hasShownNotice) return;
  updateSeen(store.db, id, { now: toInstant(at), hasShownNotice }).catch((error: unknown) =>
    logError(error, req),
  );
}

/** What the next page says was done. It was done, so a notice that cannot be stored fails nothing. */
export async function leaveNotice(given: Given, res: Response, notice: string): Promise<void> {
  try {
    await updateNotice(given.store.db, visitorOf(res).id, notice);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'unavailable') throw error;
  }
}

export function findVisitor(res: Response): Visitor | undefined {
  return res.locals['visitor'] as Visitor | undefined;
}

/** Only after `requireVisitor`. */
export function visitorOf(res: Response): Visitor {
  return findVisitor(res) as Visitor;
}

/** Sends whoever is not signed in to do so, and back afterwards. */
export const requireVisitor: RequestHandler = (req, res, next) => {
  if (findVisitor(res) !== undefined) return next();
  const signIn =
    req.method === 'GET' ? `/settings/sign-in?next=${req.baseUrl}${req.path}` : '/settings/sign-in';
  // htmx would follow a redirect, and look in the sign-in page for the part it wanted to put in.
  if (req.headers['hx-request'] === 'true') res.set('HX-Redirect', '/settings/sign-in').end();
  else res.redirect(303, signIn);
};

/** The visitor as the store writes them down. */
export function actorOf(req: Request, res: Response, { now }: Given): Actor {
  const { email, accountId } = visitorOf(res);
  return { name: email, accountId, address: addressOf(req), at: toInstant(now()) };
}

/** The address that the app has found out (client-address.ts); none when the connection is gone. */
export function addressOf(req: Request): string {
  return req.ip ?? '';
}
