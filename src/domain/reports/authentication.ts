/*
 * Who sent a report's mail, as the report has it: the reporter as which it was authenticated (`findReporter`), after `NEW` when
 * that was new; empty when it was not authenticated; null for a file, which is the operator's own word.
 */

/** In the name of a reporter that was authenticated before, and not of it. No domain has this name. */
export const DISPUTED = 'disputed';

/** Before the name of a reporter that was new, until it is established about the domain. No domain has a space. */
export const NEW = 'new ';

/**
 * How long a reporter is new, after its first authenticated mail about a domain of an account: anybody can register a
 * domain and sign with it. Longer than what alerts compare a day with, so a stranger's reports are seen long before they
 * count.
 */
export const DAYS_NEW = 14;

/** How many days established reporters of a domain may be silent, before all but disputed reports are believed. */
export const DAYS_SILENT = 30;

/**
 * How far a report is believed: its reporter is established, or it is a file; nobody authenticated it, or its reporter is new;
 * or it is disputed. Days are counted by it.
 */
export type Belief = 'established' | 'other' | 'disputed';

export function toBelief(authenticated: string | null): Belief {
  if (authenticated === DISPUTED) return 'disputed';
  return toTrust(authenticated) === 2 ? 'established' : 'other';
}

/**
 * Whose reports count: all but disputed ones, or only those of established reporters and files. A domain has one of the
 * views (store/days/believed.ts). Alerts look at it in both, so that nobody who only sends mail hides what other reports say.
 */
export type View = 'all' | 'established';

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
  const belief = toBelief(authenticated);
  return belief === 'established' || (belief === 'other' && view === 'all');
}
