/**
 * Why a report is not believed: nobody authenticated its mail; its reporter is new, until it is established about the domain; or it is
 * in the name of a reporter that was authenticated before, and not of it.
 */
export type Doubt = 'unproven' | 'new' | 'disputed';

/** What the mail of a report proves, as the report has it. Both are null for a file, which is the operator's own word. */
export interface MailProof {
  /** The reporter as which it was authenticated (`findReporter`). */
  readonly authenticated: string | null;
  readonly doubt: Doubt | null;
}

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

export function toBelief(doubt: Doubt | null): Belief {
  if (doubt === 'disputed') return 'disputed';
  return doubt === null ? 'established' : 'other';
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
export function toTrust(doubt: Doubt | null): 0 | 1 | 2 {
  if (doubt === null) return 2;
  return doubt === 'new' ? 1 : 0;
}

/** Whether a view counts a report. */
export function isReportInView(view: View, doubt: Doubt | null): boolean {
  const belief = toBelief(doubt);
  return belief === 'established' || (belief === 'other' && view === 'all');
}
