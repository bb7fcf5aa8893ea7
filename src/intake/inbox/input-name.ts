import type { ClaimedMail } from '../../store/inbox/claims.ts';
import { parseEnvelope } from '../../store/inbox/envelope.ts';

/**
 * What the input of a mail is called, in lists of documents: its number in the inbox, which makes it unique, and
 * what a person knows it by.
 */
export function toInputName({
  seq,
  door,
  envelope,
}: Pick<ClaimedMail, 'seq' | 'door' | 'envelope'>): string {
  const { sender, place } = parseEnvelope(envelope);
  const [kind] = door.split(':', 1);
  const known = place ?? (sender === undefined ? '' : `from ${sender === '' ? '<>' : sender}`);
  return `mail-${seq} ${kind} ${known}`.trimEnd();
}
