import { parseCookie, stringifySetCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { SESSION_MS } from '../domain/lifetime.ts';

/**
 * The session's cookie. `__Host-` on HTTPS: the browser then takes it from this very host only, over TLS and
 * for all its paths, so that no neighbour can plant another. Plain HTTP (this machine, a try) cannot have that.
 */
const [SECURE_NAME, PLAIN_NAME] = ['__Host-plumbline', 'plumbline'];

const OPTIONS = { httpOnly: true, sameSite: 'lax', path: '/' } as const satisfies CookieOptions;

/** Lax, not Strict: with Strict a link from a mail or a chat would ask people to sign in who are. */
export function setSessionCookie(req: Request, res: Response, token: string): void {
  setCookie(req, res, { value: token, maxAge: SESSION_MS / 1000 });
}

export function clearSessionCookie(req: Request, res: Response): void {
  setCookie(req, res, { value: '', maxAge: 0 });
}

/** The token of the session that the request names, open or not. */
export function readSessionToken(req: Request): string | undefined {
  return parseCookie(req.headers.cookie ?? '')[toName(req)] || undefined;
}

function setCookie(
  req: Request,
  res: Response,
  { value, maxAge }: { value: string; maxAge: number },
): void {
  const options = { ...OPTIONS, secure: req.secure, maxAge };
  res.append('Set-Cookie', stringifySetCookie(toName(req), value, options));
}

function toName({ secure }: Request): string {
  return secure ? SECURE_NAME : PLAIN_NAME;
}
