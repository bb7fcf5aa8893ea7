import type { Engine } from '../store.ts';
import { toSqliteError } from './errors.ts';

export const SQLITE: Engine = {
  open: async (path, options) => (await import('./open.ts')).openSqlite(path, options),
  toError: toSqliteError,
  isOfConnection: () => false,
  // Not those of triggers, which an operator may have added: they can refuse every document.
  valueErrors: /^SQLITE_(?:CONSTRAINT_(?!TRIGGER)|MISMATCH|TOOBIG)/,
};
