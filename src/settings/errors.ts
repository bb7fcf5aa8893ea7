import type { ErrorRequestHandler, Request, Response } from 'express';
import { html } from 'hono/html';
import { Failure, type FailureCode, isCutShort } from '../domain/failure.ts';
import { isOfConnection } from '../store/engine/open.ts';
import type { SettingsDeps } from './deps.ts';
import { sendPage } from './frame/page.ts';
import { findVisitor } from './visitor.ts';

/** Error codes as pages for people; the API's table is in external/errors.ts. */
const ANSWERS: Readonly<Record<FailureCode, readonly [status: number, title: string]>> = {
  unauthorized: [401, 'Please sign in'],
  forbidden: [403, 'This was not done'],
  plan_required: [403, 'Part of the Pro plan'],
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'Not found'],
  conflict: [409, 'This was not done'],
  limit_reached: [409, 'This was not done'],
  cursor_expired: [410, 'Not found'],
  validation_error: [422, 'This was not done'],
  rate_limited: [429, 'Please wait'],
  unavailable: [503, 'Busy at the moment'],
};

/** The status of an answer that refuses a request. Why it is 403 is logged: of nothing else can a person not be the cause. */
export function statusOf({ code, message }: Failure, req: Request): number {
  const [status] = ANSWERS[code];
  if (status === 403) req.reason = message;
  return status;
}

/** A defect is logged in full, and the page contains none of its text. */
export function answerPageErrors({ logError }: SettingsDeps): ErrorRequestHandler {
  return async (error: unknown, req, res, next) => {
    const failure = toFailure(error);
    if (failure === undefined || failure.cause !== undefined) logError(error, req);
    if (res.headersSent) return next(error);
    if (failure?.code === 'unavailable') res.set('Retry-After', '5');
    await sendPage(res, toView(failure, res));
  };
}

function toView(failure: Failure | undefined, res: Response) {
  const status = failure ? statusOf(failure, res.req) : 500;
  const title = failure ? ANSWERS[failure.code][1] : 'Something went wrong';
  const message =
    failure?.message ??
    `This is a defect of the service. It was logged as ${res.req.id}. Please retry.`;
  const [path, text] = findVisitor(res)
    ? ['overview', 'To the overview']
    : ['sign-in', 'To the sign-in'];
  const main = html`<section class="card refusal">
    <h1>${title}</h1>
    <p>${message}</p>
    <p><a href="/settings/${path}">${text}</a></p>
  </section>`;
  return { title, status, main };
}

function toFailure(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error;
  const busy = 'The database does not respond. Please try again in a moment.';
  if (isOfConnection(error)) return new Failure('unavailable', busy, { cause: error });
  // The body parser's error for a form that is too large or invalid has a status.
  const { status = isCutShort(error) ? 400 : 500 } = error as { readonly status?: number };
  return status < 500 ? new Failure('validation_error', 'This form could not be read.') : undefined;
}
