import { Failure } from '../../domain/failure.ts';

/** Arguments and options that do not go together. commander finds all other wrong usage by itself. */
export class UsageError extends Failure {
  constructor(message: string) {
    super('validation_error', message);
  }
}
