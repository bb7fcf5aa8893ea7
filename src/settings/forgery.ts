import type { Request, RequestHandler } from 'express';
import { Failure } from '../domain/failure.ts';
import { readQuery } from './request.ts';
import { findVisitor, isFormToken } from './visitor.ts';

/* Two checks reject requests that other sites forge: the origin that the browser sends, and a token in our pages. */

const SAFE_METHODS = new Set(['GET', 'HEAD']);

export function refuseForeignForms(baseUrl: string | undefined): RequestHandler {
  const ownHost = baseUrl === undefined ? undefined : new URL(baseUrl).host;
  return (req, _res, next) => {
    if (!SAFE_METHODS.has(req.method) && !isOwn(req, ownHost)) throw notOurForm();
    next();
  };
}

/** `none` means the person's own action, for example sending a form again after a restart of the browser. */
function isOwn({ headers, host }: Request, ownHost: string | undefined): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  // Over plain HTTP browsers send no Sec-Fetch-Site, but they all send Origin with a form.
  const { origin } = headers;
  if (origin === undefined || !URL.canParse(origin)) return false;
  const from = new URL(origin).host;
  return from !== '' && (from === host || from === ownHost);
}

/** Rejects a signed-in person's form without the token of their session. */
export const requireFormToken: RequestHandler = (req, res, next) => {
  const isForm = findVisitor(res) !== undefined && !SAFE_METHODS.has(req.method);
  // A form with files has it in its URL: it is checked before they are read.
  const token = String(req.body?.['form_token'] ?? readQuery(req, 'form_token'));
  if (isForm && !isFormToken(token, req)) throw notOurForm();
  next();
};

function notOurForm(): Failure {
  return new Failure(
    'forbidden',
    'This form did not come from a page of your session: you may have signed in again since. Load the page again, and retry.',
  );
}
