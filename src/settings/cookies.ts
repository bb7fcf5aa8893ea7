import { parseCookie, stringifySetCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { SESSION_MS } from '../domain/lifetime.ts';

/** `flow` holds what a sign-in at the OpenID provider must come back with. */
type CookieName = 'session' | 'flow';

const OPTIONS = { httpOnly: true, sameSite: 'lax', path: '/' } as const satisfies CookieOptions;
const FLOW_SECONDS = 10 * 60;

/** Lax, not Strict: with Strict a link from a mail or a chat would ask people to sign in who are. */
export function setSessionCookie(req: Request, res: Response, token: string): void {
  setCookie(req, res, { name: 'session', value: token, maxAge: SESSION_MS / 1000 });
}

export function setFlowCookie(req: Request, res: Response, value: string): void {
  setCookie(req, res, { name: 'flow', value, maxAge: FLOW_SECONDS });
}

export function clearCookie(req: Request, res: Response, name: CookieName): void {
  setCookie(req, res, { name, value: '', maxAge: 0 });
}

/** The token of the session that the request names, open or not. */
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
 * `__Host-` on HTTPS: the browser then takes the cookie from this very host only, over TLS and for all its
 * paths, so that no neighbour can plant another. Plain HTTP (this machine, a try) cannot have that.
 */
function toFullName({ secure }: Request, name: CookieName): string {
  return secure ? `__Host-plumbline-${name}` : `plumbline-${name}`;
}
