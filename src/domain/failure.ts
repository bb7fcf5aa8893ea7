/** The codes of expected errors. Those of the API are in the contract (openapi/v1.yaml). */
export type FailureCode =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'validation_error'
  | 'cursor_expired'
  | 'rate_limited'
  | 'conflict'
  | 'plan_required'
  | 'limit_reached'
  | 'unavailable';

/** An expected error that the caller can correct. Its message is written for the caller. */
export class Failure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Failure';
    this.code = code;
  }
}

/** Whether a request ended before its body: nobody reads the answer. */
export function isCutShort(error: unknown): boolean {
  const { code, message } = Object(error);
  return code === 'ECONNRESET' && message === 'aborted';
}

/** Is given to a promise's `catch`: any other error is thrown. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}

/** Is given to a promise's `catch`: what is not there is undefined; any other error is thrown. */
export function ignoreNotFound(error: unknown): undefined {
  if (error instanceof Failure && error.code === 'not_found') return undefined;
  throw error;
}
