import { timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { Failure } from '../domain/failure.ts';
import { findVisitor } from './visitor.ts';

/*
 * Requests that another site makes somebody's browser send are refused twice: by where the browser says they
 * come from, and by a token that only our own pages can know.
 */

const READING = new Set(['GET', 'HEAD']);

/** Refuses a form that the browser did not send from a page of ours. */
export function refuseForeignForms(baseUrl: string | undefined): RequestHandler {
  const ownHost = baseUrl === undefined ? undefined : new URL(baseUrl).host;
  return (req, _res, next) => {
    if (!READING.has(req.method) && !isOwn(req, ownHost)) throw foreign();
    next();
  };
}

/** `none` is the person themself, for example when they send a form again after a restart. */
function isOwn({ headers, host }: Request, ownHost: string | undefined): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  // Browsers send no Sec-Fetch-Site to plain HTTP, but every one of them sends Origin with a form.
  const { origin } = headers;
  if (origin === undefined || !URL.canParse(origin)) return false;
  const from = new URL(origin).host;
  return from !== '' && (from === host || from === ownHost);
}

/** Refuses a signed-in person's form without the token of their session. */
export const requireFormToken: RequestHandler = (req, res, next) => {
  const visitor = findVisitor(res);
  if (visitor !== undefined && !READING.has(req.method)) {
    const given = Buffer.from(String(req.body?.['form_token'] ?? ''));
    const wanted = Buffer.from(visitor.formToken);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw foreign();
  }
  next();
};

function foreign(): Failure {
  return new Failure(
    'forbidden',
    'This form did not come from a page of your session. Go back, load the page again, and retry.',
  );
}
