import { parseCookie, stringifySetCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { PENDING_SIGN_IN_MS } from '../store/people/pending-sign-ins.ts';
import { SESSION_MS } from '../store/people/sessions.ts';

/**
 * `flow`: the state of a sign-in at the OpenID provider. `pending`: the token of one that waits for its code. `lost`: what
 * was typed in a form after its session had ended.
 */
type CookieName = 'session' | 'flow' | 'pending' | 'lost';

const MAX_AGE_SECONDS: Readonly<Record<CookieName, number>> = {
  session: SESSION_MS / 1000,
  flow: 10 * 60,
  lost: 10 * 60,
  pending: PENDING_SIGN_IN_MS / 1000,
};

/** Lax: with Strict, a link from a mail or a chat would show the sign-in page to people who are signed in. */
const OPTIONS = { httpOnly: true, sameSite: 'lax', path: '/' } as const satisfies CookieOptions;

/** An empty value deletes the cookie. */
export function setCookie(res: Response, name: CookieName, value: string): void {
  const maxAge = value === '' ? 0 : MAX_AGE_SECONDS[name];
  const options = { ...OPTIONS, secure: res.req.secure, maxAge };
  res.append('Set-Cookie', stringifySetCookie(fullNameOf(res.req, name), value, options));
}

export function readCookie(req: Request, name: CookieName): string | undefined {
  return parseCookie(req.headers.cookie ?? '')[fullNameOf(req, name)] || undefined;
}

/**
 * `__Host-`: the browser accepts the cookie only from this host, over TLS and for all paths, so that no other host of
 * the domain can set one. Plain HTTP (this machine, a trial) does not support it.
 */
function fullNameOf({ secure }: Request, name: CookieName): string {
  return secure ? `__Host-plumbline-${name}` : `plumbline-${name}`;
}
