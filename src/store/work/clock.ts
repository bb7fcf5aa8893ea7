import { prepareColumn } from '../connection/prepared.ts';
import type { Reader } from '../connection/reader.ts';
import { wordsOf } from '../connection/words.ts';

/** Reads a clock that all processes on one database share, in milliseconds since 1970. */
export type ReadClock = (reader: Pick<Reader, 'readFirst'>) => Promise<number>;

/** The database's clock. The processes may be on machines whose clocks differ. */
export const readClockMs: ReadClock = async (reader) =>
  Number(await reader.readFirst(selectClock({})));

const selectClock = prepareColumn<Record<string, never>, number>((db) =>
  db.selectNoFrom(wordsOf(db).clockMs.as('now')),
);
