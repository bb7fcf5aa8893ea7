import { InvalidArgumentError } from 'commander';

export const toMailId = (seq: number): string => `mail-${seq}`;

/** The number of a mail: `mail-17`. */
export function parseMail(text: string): number {
  const [, digits] = /^mail-([1-9]\d{0,14})$/.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('It is mail-<number>.');
  return Number(digits);
}

/** commander passes the mails so far; undefined for the first one. */
export function collectMails(text: string, seqs: readonly number[] = []): readonly number[] {
  return [...seqs, parseMail(text)];
}
