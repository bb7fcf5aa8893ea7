import type { ServerResponse } from 'node:http';
import type { components } from '../../generated/v1.d.ts';
import { Failure, type FailureCode } from '../domain/failure.ts';
import type { ApiRequest } from './request.ts';
import { send, toBody } from './send.ts';

type ErrorBody = components['schemas']['ErrorBody'];

/** The contract has no 503: a database that stays busy is a 500. */
type Code = Exclude<FailureCode, 'unavailable'> | 'internal_error';

const ANSWERS: Readonly<Record<Code, { status: number; headers?: readonly string[] }>> = {
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

/**
 * Logs an error that is not a `Failure` of the caller, who gets none of its text. Returns false when part of the
 * answer was sent already: then the connection has to be broken.
 */
export function answerErrors(logError: (error: unknown, req: ApiRequest) => void) {
  return (error: unknown, req: ApiRequest, res: ServerResponse): boolean => {
    const code = toCode(error);
    if (code === 'internal_error') logError(error, req);
    if (res.headersSent) return false;
    const message =
      code === 'internal_error' ? 'Unexpected server error.' : (error as Failure).message;
    const { status, headers = [] } = ANSWERS[code];
    const body: ErrorBody = { error: { code, message } };
    send(req, res, {
      status,
      headers: ['Cache-Control', 'no-store', ...headers],
      body: toBody(body),
    });
    return true;
  };
}

function toCode(error: unknown): Code {
  if (!(error instanceof Failure) || error.code === 'unavailable') return 'internal_error';
  return error.code;
}
