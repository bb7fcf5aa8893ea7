import type { Engine } from '../store.ts';
import { isOfConnection, toPostgresError } from './errors.ts';

export const POSTGRES: Engine = {
  open: async (url, options) => (await import('./open.ts')).openPostgres(url, options),
  toError: toPostgresError,
  isOfConnection,
  // Data exceptions, violated constraints and exceeded limits (PostgreSQL, appendix A).
  valueErrors: /^(?:22|23|54)[0-9A-Z]{3}$/,
};
