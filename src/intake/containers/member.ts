import type { Budget } from '../budget.ts';
import type { Content } from '../content.ts';
import type { WarningLog } from '../warnings.ts';

/** What a member has of the input and of the containers around it. */
export interface Inherited {
  readonly budget: Budget;
  readonly log: WarningLog;
}

export interface Member {
  /** Only to be shown: reporters' file names are not reliable. */
  readonly name: string;
  readonly content: Content;
  /** Part of a mail's own text or layout: when it is not a report, it is not mentioned. */
  readonly isQuiet: boolean;
  /** It is kept by itself for the documents in it, without what is beside it. */
  readonly isPart: boolean;
  /** What its mail says of its encoding. */
  readonly charset?: string | undefined;
  /** The subject of its mail says that it is a report. */
  readonly isExpected?: boolean;
  /** Its media type is that of a TLS report, and its mail says of which domain (RFC 8460, section 5.3). */
  readonly isTls?: boolean;
  readonly tlsDomain?: string | null | undefined;
}

const MAX_NAME_CHARS = 255;
/** Control characters, directional controls, and separators of lines and paragraphs. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const HALF_PAIR_AT_END = /[\ud800-\udbff]$/;

/** A name that is safe to show and at most 255 characters long; `fallback` when there is none. */
export function toDisplayName(name: string | undefined, fallback: string): string {
  const start = (name ?? '').slice(0, 4 * MAX_NAME_CHARS).replace(UNSAFE, '');
  const shown = start.slice(0, MAX_NAME_CHARS).replace(HALF_PAIR_AT_END, '').toWellFormed();
  return shown.trim() === '' ? fallback : shown;
}
