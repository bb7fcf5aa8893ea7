import { aReportMail, aReportXml } from '../support/inbox.ts';
import { base64, letter, mail, text } from '../support/mail.ts';

/** On SQLite the process is killed in each round. `MAIL_ROUNDS=100` kills it more often. */
export const ROUNDS = Number(process.env['MAIL_ROUNDS'] ?? 40);
/** On PostgreSQL it is killed in some of the rounds, or in each of 100 with `MAIL_ROUNDS=100 POSTGRES_KILLS=100`. */
export const POSTGRES_KILLS = Number(process.env['POSTGRES_KILLS'] ?? Math.ceil(ROUNDS / 4));
/** By each door in each round. */
export const MAILS = 20;

/** Of 20 mails, 18 have a report, one has a broken report, and one is none of Plumbline's business. */
const KINDS = ['processed', 'rejected', 'ignored'] as const;
export type Kind = (typeof KINDS)[number];
/** By each door in all rounds. */
export const COUNTS = { processed: 18 * ROUNDS, rejected: ROUNDS, ignored: ROUNDS };
/** Everything in a folder is meant for Plumbline, so what has no report is rejected there. */
export const FOLDER_COUNTS = { processed: 18 * ROUNDS, rejected: 2 * ROUNDS, ignored: 0 };

export const DOORS = ['smtp', 'imap', 'folder', 'maildir'] as const;
export type Door = (typeof DOORS)[number];

interface TrialMail {
  readonly id: string;
  readonly kind: Kind;
  readonly bytes: Buffer;
}

/** The mails of a round: no two of all mails are the same. */
export function toMails(door: Door, round: number): TrialMail[] {
  return Array.from({ length: MAILS }, (_, i) => {
    const [id, kind] = [`${door}-${round}-${i}`, KINDS[Math.max(0, i - MAILS + 3)] as Kind];
    if (kind === 'processed') return { id, kind, bytes: aReportMail(id) };
    const [toMail, part] =
      kind === 'rejected'
        ? [mail, base64(aReportXml(id).slice(0, -20))]
        : [letter, text(`Hello ${id}.`)];
    return { id, kind, bytes: toMail({ ...part, headers: [...part.headers, `X-Id: ${id}`] }) };
  });
}

/** The mails of all rounds. */
export const toAllMails = (door: Door): TrialMail[] =>
  Array.from({ length: ROUNDS }, (_, round) => toMails(door, round)).flat();
