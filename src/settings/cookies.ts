import { parseCookie, stringifySetCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { PENDING_SIGN_IN_MS, SESSION_MS } from '../domain/access/lifetime.ts';

/**
 * `flow` holds the state of a sign-in at the OpenID provider, `pending` the token of one that waits for the code of a
 * second factor.
 */
type CookieName = 'session' | 'flow' | 'pending';

const OPTIONS = { httpOnly: true, sameSite: 'lax', path: '/' } as const satisfies CookieOptions;
const FLOW_SECONDS = 10 * 60;

/**
 * Lax, not Strict: with Strict, a link from a mail or a chat would show the sign-in page to people who are
 * signed in.
 */
export function setSessionCookie(req: Request, res: Response, token: string): void {
  setCookie(req, res, { name: 'session', value: token, maxAge: SESSION_MS / 1000 });
}

export function setFlowCookie(req: Request, res: Response, value: string): void {
  setCookie(req, res, { name: 'flow', value, maxAge: FLOW_SECONDS });
}

export function setPendingCookie(req: Request, res: Response, token: string): void {
  setCookie(req, res, { name: 'pending', value: token, maxAge: PENDING_SIGN_IN_MS / 1000 });
}

export function clearCookie(req: Request, res: Response, name: CookieName): void {
  setCookie(req, res, { name, value: '', maxAge: 0 });
}

/** The token in the request's session cookie; the session may be closed. */
export function readSessionToken(req: Request): string | undefined {
  return readCookie(req, 'session');
}

export function readCookie(req: Request, name: CookieName): string | undefined {
  return parseCookie(req.headers.cookie ?? '')[toFullName(req, name)] || undefined;
}

interface Cookie {
  readonly name: CookieName;
  readonly value: string;
  readonly maxAge: number;
}

function setCookie(req: Request, res: Response, { name, value, maxAge }: Cookie): void {
  const options = { ...OPTIONS, secure: req.secure, maxAge };
  res.append('Set-Cookie', stringifySetCookie(toFullName(req, name), value, options));
}

/**
 * `__Host-` on HTTPS: the browser then accepts the cookie only from this host, over TLS and for all paths, so
 * that another host of the domain cannot set one. Plain HTTP (this machine, a trial) does not support it.
 */
function toFullName({ secure }: Request, name: CookieName): string {
  return secure ? `__Host-plumbline-${name}` : `plumbline-${name}`;
}
