/** The codes of expected errors. The API's codes are those of the description, section 7. */
export type FailureCode =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'validation_error'
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
