export const LEVELS = ['ok', 'warning', 'error'] as const;

/** What a check found. An advice says what to do about a warning or an error. */
export interface Finding {
  readonly level: (typeof LEVELS)[number];
  readonly found: string;
  readonly advice: string | null;
}

const toFinding = (level: Finding['level']) => (found: string, advice: string) =>
  ({ level, found, advice }) satisfies Finding;

export const ok = (found: string): Finding => ({ level: 'ok', found, advice: null });
export const warning = toFinding('warning');
export const error = toFinding('error');

const TIMEOUT_MS = 20_000;

/** A check that throws has found an error. Nobody waits for one that does not end. */
export async function check(work: () => Promise<Finding>): Promise<Finding> {
  const late = Promise.withResolvers<Finding>();
  const found = error(`No answer after ${TIMEOUT_MS / 1000} s.`, 'Look why it does not respond.');
  const timer = setTimeout(() => late.resolve(found), TIMEOUT_MS);
  try {
    return await Promise.race([work(), late.promise]);
  } catch (fault) {
    return error((fault as Error).message, 'Correct that, and try again.');
  } finally {
    clearTimeout(timer);
  }
}
