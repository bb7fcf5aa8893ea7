import type { ServerResponse } from 'node:http';
import type { components } from '../../generated/v1.d.ts';
import { Failure, type FailureCode, isCutShort } from '../domain/failure.ts';
import { isOfConnection } from '../store/engine/open.ts';
import type { ApiRequest } from './request.ts';
import { sendAnswer, toBody } from './send.ts';

type ErrorBody = components['schemas']['ErrorBody'];

type Code = FailureCode | 'internal_error';

const ANSWERS: Readonly<Record<Code, { status: number; headers?: readonly string[] }>> = {
  unauthorized: { status: 401, headers: ['WWW-Authenticate', 'Bearer'] },
  forbidden: { status: 403 },
  plan_required: { status: 403 },
  not_found: { status: 404 },
  method_not_allowed: { status: 405, headers: ['Allow', 'GET, HEAD'] },
  conflict: { status: 409 },
  limit_reached: { status: 409 },
  cursor_expired: { status: 410 },
  validation_error: { status: 422 },
  rate_limited: { status: 429, headers: ['Retry-After', '60'] },
  internal_error: { status: 500 },
  unavailable: { status: 503, headers: ['Retry-After', '5'] },
};

/** What is said of errors that are not the caller's. */
const MESSAGES: Readonly<Partial<Record<Code, string>>> = {
  internal_error: 'Unexpected server error.',
  unavailable: 'The service cannot answer at the moment. Try again in 5 seconds.',
};

/** What is told of an error. One that is not a `Failure` of the caller is logged, and the caller gets none of its text. */
export function describeErrors(logError: (error: unknown, req: ApiRequest) => void) {
  return (error: unknown, req: ApiRequest) => {
    const code = toCode(error);
    if (MESSAGES[code] !== undefined) logError(error, req);
    const message = MESSAGES[code] ?? (error as Failure).message;
    // The others are not those of operations.
    const body = { error: { code, message } } as ErrorBody;
    return { headers: [], ...ANSWERS[code], body };
  };
}

/** Returns false when part of the answer was sent already: then the connection has to be broken. */
export function answerErrors(logError: Parameters<typeof describeErrors>[0]) {
  const describe = describeErrors(logError);
  return (error: unknown, req: ApiRequest, res: ServerResponse): boolean => {
    const { status, headers, body } = describe(error, req);
    if (status === 403) req.reason = body.error.message;
    if (res.headersSent) return false;
    sendAnswer(req, res, {
      status,
      headers: ['Cache-Control', 'no-store', ...headers],
      body: toBody(body),
    });
    return true;
  };
}

function toCode(error: unknown): Code {
  if (error instanceof Failure) return error.code;
  if (isCutShort(error)) return 'validation_error';
  return isOfConnection(error) ? 'unavailable' : 'internal_error';
}
