import { Refusal } from '../../domain/reports/refusal.ts';
import type { WarningCode } from '../../domain/reports/warning-texts.ts';
import { MAX_BEGIN_AHEAD_MS } from '../limits.ts';

/** Seconds reach this value in the year 5138; milliseconds did in 1973. */
export const FIRST_MILLISECONDS = 1e11;
/** Windows end a little after their day, and a day on which clocks go back has 25 hours. */
const LONG_SECONDS = 27 * 60 * 60;
/** DMARC was first published in January 2012. */
const FIRST_REPORTS = Date.UTC(2012, 0, 1) / 1000;

/** What is odd about the window of a report, in seconds. Throws `window_in_future`. */
export function checkWindow(
  { begin, end }: { readonly begin: number; readonly end: number },
  { nowMs, where = null }: { readonly nowMs: number; readonly where?: string | null },
): readonly WarningCode[] {
  // A report that begins in the year 5138 would always be the first in every list.
  const message = 'The report begins more than 2 days after it was received.';
  if (begin * 1000 > nowMs + MAX_BEGIN_AHEAD_MS)
    throw new Refusal('window_in_future', message, where);
  const met = {
    reversed_dates: begin > end,
    long_window: end - begin >= LONG_SECONDS,
    early_begin: begin < FIRST_REPORTS,
    future_begin: begin * 1000 > nowMs,
  };
  return (Object.keys(met) as (keyof typeof met)[]).filter((code) => met[code]);
}
