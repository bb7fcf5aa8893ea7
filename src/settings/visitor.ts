import { createHmac } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { toInstant } from '../domain/instant.ts';
import { SESSION_TOUCH_MS } from '../domain/lifetime.ts';
import type { Actor } from '../store/audit.ts';
import { findSession, type OpenSession, updateLastSeen, updateNotice } from '../store/sessions.ts';
import { readSessionToken } from './cookies.ts';
import type { Given } from './given.ts';

/** Somebody who is signed in, on one request. */
export interface Visitor extends OpenSession {
  /** What every form of theirs carries (forgery.ts). */
  readonly formToken: string;
}

/** Finds out who is there. Each request asks the store anew: a session that was ended is over at once. */
export function recogniseVisitor({ store, now }: Given): RequestHandler {
  return async (req, res, next) => {
    const token = readSessionToken(req);
    const at = now();
    const session = token && (await findSession(store.reader, token, toInstant(at)));
    if (token && session) {
      res.locals['visitor'] = { ...session, formToken: toFormToken(token) };
      await keepAlive(req, session, { store, at });
    }
    next();
  };
}

/** Made from the session's token, which is kept nowhere: whoever reads the database cannot make it. */
function toFormToken(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('form').digest('base64url');
}

/** Writes down that the session is in use, and forgets the notice that the page to come will show. */
async function keepAlive(
  { method }: Request,
  { id, lastSeenAt, notice }: OpenSession,
  { store: { db }, at }: Pick<Given, 'store'> & { at: Date },
): Promise<void> {
  if (at.getTime() - Date.parse(lastSeenAt) >= SESSION_TOUCH_MS) {
    await updateLastSeen(db, id, toInstant(at));
  }
  if (notice !== null && method === 'GET') await updateNotice(db, id, null);
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

/** IPv4 in its own form, also where the server listens on IPv6. */
export function addressOf(req: Request): string {
  return (req.ip ?? '').replace(/^::ffff:(?=\d+\.)/, '');
}
