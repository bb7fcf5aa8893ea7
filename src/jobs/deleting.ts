import type { Logger } from 'pino';
import type { NoteGone } from '../store/work/gone.ts';

type MayGoOn = () => Promise<boolean>;

/**
 * A job's run whose log has one line of what it deleted, why, and how long it is kept. A run that stops or fails has its line,
 * too: what is gone is gone.
 */
export function logGone(
  log: Pick<Logger, 'info'>,
  { why, ...about }: { readonly job: string; readonly why: string; readonly kept: object },
  run: (mayGoOn: MayGoOn, noteGone: NoteGone) => Promise<boolean>,
) {
  return async (mayGoOn: MayGoOn): Promise<boolean> => {
    const gone: Record<string, number> = {};
    try {
      return await run(mayGoOn, (kind, count) => (gone[kind] = (gone[kind] ?? 0) + count));
    } finally {
      if (Object.keys(gone).length > 0) log.info({ ...about, gone }, why);
    }
  };
}
