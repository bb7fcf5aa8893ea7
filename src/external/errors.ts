import type { ErrorRequestHandler, Request, Response } from 'express';
import type { components } from '../../generated/v1.d.ts';
import { Failure, type FailureCode } from '../domain/failure.ts';
import { send, toBody } from './send.ts';

type ErrorBody = components['schemas']['ErrorBody'];

interface Answer {
  readonly status: number;
  readonly headers?: readonly string[];
}

/** The one table from what went wrong to what is answered (description, section 7; decision 1.2). */
const ANSWERS: Readonly<Record<FailureCode | 'internal_error', Answer>> = {
  unauthorized: { status: 401, headers: ['WWW-Authenticate', 'Bearer'] },
  forbidden: { status: 403 },
  plan_required: { status: 403 },
  not_found: { status: 404 },
  method_not_allowed: { status: 405, headers: ['Allow', 'GET, HEAD'] },
  conflict: { status: 409 },
  limit_reached: { status: 409 },
  validation_error: { status: 422 },
  rate_limited: { status: 429, headers: ['Retry-After', '60'] },
  internal_error: { status: 500 },
};

/** Answers what was thrown. What is not a `Failure` is our own fault: logged whole, told in no word. */
export function answerErrors(
  logError: (error: unknown, req: Request) => void,
): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    const failure = error instanceof Failure ? error : undefined;
    if (failure === undefined) logError(error, req);
    // Part of an answer is out already: all that is left is to break the connection.
    if (res.headersSent) return next(error);
    sendError(req, res, {
      code: failure?.code ?? 'internal_error',
      message: failure?.message ?? 'Unexpected server error.',
    });
  };
}

function sendError(
  req: Request,
  res: Response,
  error: { code: keyof typeof ANSWERS; message: string },
): void {
  const { status, headers = [] } = ANSWERS[error.code];
  const body: ErrorBody = { error };
  send(req, res, {
    status,
    headers: ['Cache-Control', 'no-store', ...headers],
    body: toBody(body),
  });
}
