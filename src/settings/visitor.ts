import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, RequestHandler, Response } from 'express';
import { Failure } from '../domain/failure.ts';
import { toInstant } from '../domain/instant.ts';
import type { Db } from '../store/engine/database.ts';
import { notOwner } from '../store/people/people.ts';
import type { Self } from '../store/people/second-factors.ts';
import { findSession, type OpenSession, updateSession } from '../store/people/sessions.ts';
import { readCookie } from './cookies.ts';
import type { PageHandler, SettingsDeps } from './deps.ts';
import { addressOf, idOf } from './request.ts';
import { keepLostForm, takeLostForm } from './sign-in/lost-form.ts';
import { toOwnPage, toPageOfForm } from './sign-in/own-page.ts';

export interface Visitor extends OpenSession {
  /** The token in each of the person's forms (forgery.ts). */
  readonly formToken: string;
}

/** Reads the session from the store for each request, so that one that was ended is rejected at once. */
export function recogniseVisitor(deps: SettingsDeps): RequestHandler {
  const { store, now } = deps;
  return async (req, res, next) => {
    const token = readCookie(req, 'session');
    const at = now();
    const session = token && (await findSession(store.reader, token, toInstant(at)));
    if (token && session) {
      res.locals['visitor'] = { ...session, formToken: toFormToken(token) };
      Object.assign(req, { accountId: session.accountId, personId: session.personId });
      if (req.method === 'GET') takeLostForm(res);
      await recordSeen(req, session, deps);
    }
    next();
  };
}

const SALT_CHARS = 12;

/**
 * Made from the session's token, which is not stored: the contents of the database are not enough to make it. The salt
 * makes it another one on each page: pages are compressed, and their length must not tell a token that stays the same.
 */
function toFormToken(sessionToken: string, salt = randomBytes(9).toString('base64url')): string {
  return salt + createHmac('sha256', sessionToken).update(`form ${salt}`).digest('base64url');
}

export function isFormToken(sent: string, req: Request): boolean {
  const own = toFormToken(readCookie(req, 'session') ?? '', sent.slice(0, SALT_CHARS));
  const [expected, given] = [Buffer.from(own), Buffer.from(sent)];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** How long a page waits for this write, in milliseconds. An ingest holds the write lock for 250 at the most. */
const MAX_WAIT_MS = 500;

/** The last use of a session is written at most this often. */
const SESSION_TOUCH_MS = 60_000;

/** The page does not wait for a database that stays busy; its notice may then be shown twice. */
async function recordSeen(req: Request, session: OpenSession, deps: SettingsDeps): Promise<void> {
  const { store, now } = deps;
  const { id, lastSeenAt, notice } = session;
  const at = now();
  const isOld = at.getTime() - Date.parse(lastSeenAt) >= SESSION_TOUCH_MS;
  const hasShownNotice = notice !== null && req.method === 'GET';
  if (!isOld && !hasShownNotice) return;
  const write = updateSession(store.db, id, {
    last_seen_at: toInstant(at),
    ...(hasShownNotice && { notice: null }),
  });
  await waitBriefly(write, deps, req);
}

/** Waits for a write that a page can do without. What goes wrong is logged. */
async function waitBriefly(write: Promise<unknown>, { logError }: SettingsDeps, req: Request) {
  const recorded = write.catch((error: unknown) => logError(error, req));
  await Promise.race([recorded, sleep(MAX_WAIT_MS, undefined, { ref: false })]);
}

/** The answer to a form that was done, so a database that is too busy for the notice is ignored here. */
export async function redirectWithNotice(
  { store }: SettingsDeps,
  res: Response,
  { path, notice }: { readonly path: string; readonly notice: string },
): Promise<void> {
  try {
    await updateSession(store.db, visitorOf(res).id, { notice });
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'unavailable') throw error;
  }
  res.redirect(303, path);
}

/** A form that changes something. What `work` returns is told on the next page. */
export function onForm(
  path: string | ((req: Request) => string),
  work: (form: { db: Db; req: Request; by: ReturnType<typeof actorOf> }) => Promise<string>,
): PageHandler {
  return async (deps, req, res) => {
    const notice = await work({ db: deps.store.db, req, by: actorOf(res, deps) });
    const next = typeof path === 'string' ? path : path(req);
    await redirectWithNotice(deps, res, { path: next, notice });
  };
}

/** Says what it means for a person that the database is too busy for what they asked. */
export function explainBusy(message: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Failure) || error.code !== 'unavailable') throw error;
    throw new Failure('unavailable', message);
  };
}

export function findVisitor(res: Response): Visitor | undefined {
  return res.locals['visitor'] as Visitor | undefined;
}

/** Only valid after `requireVisitor`. */
export function visitorOf(res: Response): Visitor {
  return findVisitor(res) as Visitor;
}

/** Redirects a person who is not signed in to the sign-in page, and back afterwards. */
export const requireVisitor: RequestHandler = (req, res, next) => {
  if (findVisitor(res) !== undefined) return next();
  // htmx would follow a redirect and search the sign-in page for the wanted part; settings.js sends the form without it.
  if (req.headers['hx-request'] === 'true') return void res.status(401).end();
  const isForm = req.method === 'POST';
  if (isForm) keepLostForm(res);
  const page = isForm ? toPageOfForm(req) : toOwnPage(req.originalUrl);
  res.redirect(303, `/settings/sign-in?next=${encodeURIComponent(page)}`);
};

const SET_UP = '/settings/second-factor';

/** Who needs a second factor and has none must set it up first. The provider decides for people who sign in there. */
export const requireSecondFactor: RequestHandler = (req, res, next) => {
  const isThere = `${req.baseUrl}${req.path}`.startsWith(SET_UP);
  if (!mustSetUp(visitorOf(res)) || isThere) return next();
  if (req.headers['hx-request'] === 'true') res.set('HX-Redirect', SET_UP).end();
  else res.redirect(303, SET_UP);
};

export function mustSetUp(visitor: Visitor): boolean {
  const { secondFactorRequired, secondFactorSince, isSingleSignOn } = visitor;
  return secondFactorRequired === 1 && secondFactorSince === null && isSingleSignOn === 0;
}

/** Only owners of the account manage its people. Their changes check it again, in their transactions. */
export const requireOwnerRole: RequestHandler = (_req, res, next) => {
  if (visitorOf(res).role !== 'owner') throw notOwner();
  next();
};

export function actorOf(res: Response, { now }: SettingsDeps): Self & { accountId: string } {
  const { email, accountId, personId } = visitorOf(res);
  return { name: email, accountId, personId, address: addressOf(res.req), at: toInstant(now()) };
}

/** The domain that a path names, which may be another account's: the store compares both ids. */
export function domainScopeOf(req: Request, res: Response) {
  return { accountId: visitorOf(res).accountId, domainId: idOf(req) };
}
