import { InvalidArgumentError } from 'commander';
import { isPostgresUrl } from '../domain/database-address.ts';

/** The value of an option that names a PostgreSQL database. */
export function parsePostgresUrl(text: string): string {
  if (isPostgresUrl(text)) return text;
  throw new InvalidArgumentError('It must be a URL that begins with postgres://.');
}
