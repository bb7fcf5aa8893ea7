import type { Content } from './content.ts';

/** One thing inside an archive, a mail or a mailbox. */
export interface Member {
  /** For display only: reporters' file names lie. */
  readonly name: string;
  readonly content: Content;
  /** Part of a mail's own text and dress: when it is no report, nobody wants to hear of it. */
  readonly isQuiet: boolean;
}

const MAX_NAME_CHARS = 255;

/** A name that can be shown: no control characters, not endless, `fallback` when there is none. */
export function toDisplayName(name: string | undefined, fallback: string): string {
  const shown = (name ?? '').replace(/\p{Cc}/gu, '').slice(0, MAX_NAME_CHARS);
  return shown.trim() === '' ? fallback : shown;
}
