/*
 * Who sent a report's mail, as the report has it: the organisational domain as which it was authenticated, after `NEW` when
 * that reporter was new; empty when it was not authenticated; null for a file, which is the operator's own word.
 */

/** Not authenticated, in the name of a reporter that was authenticated before. No domain has this name. */
export const DISPUTED = 'disputed';

/** Before the name of a reporter that was new. No domain has a space. */
export const NEW = 'new ';

/**
 * How long a reporter is new, after its first authenticated mail: anybody can register a domain and sign with it. Longer
 * than what alerts compare a day with, so a stranger's reports are seen long before they count.
 */
export const DAYS_NEW = 14;

/**
 * Alerts look at a domain in two ways: without what is disputed, and with nothing but reports of established reporters and
 * files. So nobody who only sends mail hides what other reports say.
 */
export const VIEWS = ['undisputed', 'established'] as const;
export type View = (typeof VIEWS)[number];

/**
 * How well a report's sender is known: 0 when nobody authenticated it, 1 for a new reporter, 2 for one that is established,
 * and for a file. Among two contents of a report the one of the better known sender counts.
 */
export function toTrust(authenticated: string | null): 0 | 1 | 2 {
  if (authenticated === '' || authenticated === DISPUTED) return 0;
  return authenticated?.startsWith(NEW) ? 1 : 2;
}

/** Whether a view counts a report. */
export function isInView(view: View, authenticated: string | null): boolean {
  return view === 'established' ? toTrust(authenticated) === 2 : authenticated !== DISPUTED;
}
