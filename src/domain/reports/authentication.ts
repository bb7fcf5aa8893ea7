/*
 * Who sent a report's mail, as the report has it: the organisational domain as which it was authenticated, empty when it
 * was not, null for a file, which is the operator's own word.
 */

/** Not authenticated, in the name of a reporter that was authenticated before. No domain has this name. */
export const DISPUTED = 'disputed';

/**
 * Alerts look at a domain in two ways: without what is disputed, and without anything that is not authenticated. So nobody
 * who only sends mail hides what other reports say.
 */
export const VIEWS = ['undisputed', 'authenticated'] as const;
export type View = (typeof VIEWS)[number];

export function isAuthenticated(authenticated: string | null): boolean {
  return authenticated !== '' && authenticated !== DISPUTED;
}

/** Whether a view counts a report. */
export function isInView(view: View, authenticated: string | null): boolean {
  return view === 'authenticated' ? isAuthenticated(authenticated) : authenticated !== DISPUTED;
}
