import type { ListedMail } from '../../store/inbox/mails.ts';
import { toShortTime } from '../output/output.ts';

export const toMailId = (seq: number): string => `mail-${seq}`;

/** The id of a mail's parts is of no use outside. */
export function toOutput({ seq, id: _id, envelope, ...mail }: ListedMail) {
  const { sender = null, recipients = [], remoteAddress: remote_address = null } = envelope;
  const { place = null } = envelope;
  return { id: toMailId(seq), ...mail, sender, recipients, remote_address, place };
}

export function toColumns(mail: ReturnType<typeof toOutput>) {
  return {
    id: mail.id,
    'received (UTC)': toShortTime(mail.received_at),
    door: mail.door.split(':', 1)[0],
    'from or file': mail.place ?? mail.sender,
    result: toResultText(mail),
  };
}

/** The counts are those of the reading: an account may have claimed the domain since. */
const OUTCOME_TEXTS: Readonly<Record<string, string>> = { unclaimed: 'unclaimed when read' };

function toResultText(
  mail: Pick<ListedMail, 'state' | 'result' | 'counts' | 'reason' | 'last_error'>,
): string {
  const { state, result, counts, reason, last_error } = mail;
  if (state === 'claimed') return 'is being read';
  if (state !== 'done') return last_error === null ? state : `${state}: ${last_error}`;
  if (result === 'ignored' || result === 'dropped')
    return reason === null ? result : `${result}: ${reason}`;
  return toCountTexts(counts ?? {}).join(', ');
}

export function toCountTexts(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).map(
    ([outcome, count]) => `${count} ${OUTCOME_TEXTS[outcome] ?? outcome}`,
  );
}
